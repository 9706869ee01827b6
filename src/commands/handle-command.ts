// Executes a command with optimistic concurrency: load the stream, fold, decide, append at that revision, retry on a
// conflict.

import type { LinkledgerEvent } from "../events/catalogue.ts";
import { newEvent } from "../events/new-event.ts";
import { readEvent } from "../events/read-event.ts";
import { type EventStore, type Position, RevisionConflict } from "../stores/event-store/port.ts";
import { streamPages } from "../stores/event-store/stream-pages.ts";
import type { CommandContext } from "./caller.ts";
import { isRefused } from "./refusals.ts";

export type CommandDeps = {
  eventStore: EventStore;
  clock: () => Date;
  newId: () => string;
  /** [0, 1), for jitter only. */
  random: () => number;
  sleep: (ms: number) => Promise<void>;
};

/** `decide` runs again after each revision conflict. */
export type Command<S, E extends LinkledgerEvent> = {
  stream: string;
  initial: S;
  fold: (state: S, event: E) => S;
  decide: (state: S) => readonly E[];
  /** The stream probably does not exist: the first attempt appends without reading. */
  expectNew?: boolean;
  /** As loadStream gave it a moment ago: the first attempt decides on it without reading. */
  loaded?: Loaded<S>;
  /** Deterministic id of the n-th event, so that the store recognises a repeated append. */
  eventId?: (index: number) => string;
};

/** `position`: of the stream's last event; documents that contain it show what was done. */
export type Appended = { position: Position | undefined };

/** Of several appends, some of which appended nothing. */
export function lastPosition(positions: readonly (Position | undefined)[]): Position | undefined {
  return positions
    .filter((position) => position !== undefined)
    .sort()
    .at(-1);
}

export type Loaded<S> = Appended & { state: S; revision: number | "none" };

/** `before`: the state that was decided on, where `fold` leaves its argument as it is. */
export type CommandResult<S, E> = Loaded<S> & { before: S; events: readonly E[] };

const ATTEMPTS = 5;
const MIN_BACKOFF_MS = 10;
const MAX_BACKOFF_MS = 200;

/**
 * Appends at the exact revision that was decided on; without events nothing is appended. After the last conflict it decides
 * once more: a refusal, or the finding that nothing is left to do, is a better answer than the conflict.
 * @throws RevisionConflict after five conflicts; what `decide` throws
 */
export async function handleCommand<S, E extends LinkledgerEvent>(
  deps: CommandDeps,
  context: CommandContext,
  command: Command<S, E>,
): Promise<CommandResult<S, E>> {
  let loaded = command.loaded ?? absent(command.initial);
  let isLoaded = command.loaded !== undefined || command.expectNew === true;
  let conflict: RevisionConflict | undefined;
  const { requestId, actor } = context;
  const origin = { correlationId: requestId, causationId: requestId, actor };
  const idOf = command.eventId ?? deps.newId;
  for (let attempt = 1; ; attempt++) {
    if (!isLoaded) loaded = await loadStream(deps.eventStore, command, loaded);
    const events = command.decide(loaded.state);
    const { state: before } = loaded;
    if (events.length === 0) return { ...loaded, before, events };
    if (conflict && attempt > ATTEMPTS) throw conflict;
    try {
      const stamped = events.map((event, index) => newEvent(event, idOf(index), origin));
      const appended = await deps.eventStore.append(command.stream, loaded.revision, stamped);
      return { state: events.reduce(command.fold, before), before, events, ...appended };
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
      conflict = error;
    }
    if (!isLoaded && attempt < ATTEMPTS)
      await deps.sleep(MIN_BACKOFF_MS + deps.random() * (MAX_BACKOFF_MS - MIN_BACKOFF_MS));
    isLoaded = false;
  }
}

/** `from`: an earlier result, whose state may be mutated. @throws EventUnreadable, EventNewer */
export async function loadStream<S, E extends LinkledgerEvent>(
  eventStore: Pick<EventStore, "read">,
  command: Pick<Command<S, E>, "stream" | "initial" | "fold">,
  from: Loaded<S> = absent(command.initial),
): Promise<Loaded<S>> {
  let loaded = from;
  const first = from.revision === "none" ? 0 : from.revision + 1;
  for await (const page of streamPages(eventStore, command.stream, first)) {
    for (const recorded of page) {
      const state = command.fold(loaded.state, readEvent(recorded) as unknown as E);
      loaded = { state, revision: recorded.revision, position: recorded.position };
    }
  }
  return loaded;
}

/** Whether an append failed for certain: after other errors the events may be in the log all the same. */
export function isNotAppended(error: unknown): boolean {
  return isRefused(error) || error instanceof RevisionConflict;
}

function absent<S>(initial: S): Loaded<S> {
  return { state: initial, revision: "none", position: undefined };
}
