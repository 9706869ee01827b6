// The way of every command: load the stream, fold, decide, append at that revision; on a race, read on and once more.
import {
  type AppendResult,
  type EventStore,
  type ExpectedRevision,
  type Position,
  RevisionConflict,
} from "../event-store/port.ts";
import { streamPages } from "../event-store/stream-pages.ts";
import type { LinkledgerEvent } from "../events/catalogue.ts";
import { newEvent } from "../events/new-event.ts";
import { readEvent } from "../events/read-event.ts";
import type { CommandContext } from "./caller.ts";

export type CommandDeps = {
  eventStore: EventStore;
  clock: () => Date;
  newId: () => string;
  /** [0, 1), for jitter only. */
  random: () => number;
  sleep: (ms: number) => Promise<void>;
};

/** A stream and how it is folded and decided on. `decide` runs again after each lost race. */
export type Command<S, E extends LinkledgerEvent> = {
  stream: string;
  initial: S;
  fold: (state: S, event: E) => S;
  decide: (state: S) => readonly E[];
  /** The stream is most likely not there: the first try appends without reading. */
  expectNew?: boolean;
  /** Fixed id of the n-th event, for a command that must be recognised when it is repeated. */
  eventId?: (index: number) => string;
};

/** `position` is undefined when there was nothing to append to an empty stream. */
export type CommandResult<S, E> = {
  state: S;
  events: readonly E[];
  revision: number | "none";
  position: Position | undefined;
};

export type Loaded<S> = { state: S; revision: number | "none"; position: Position | undefined };

const TRIES = 5;
const LEAST_WAIT_MS = 10;
const MOST_WAIT_MS = 200;

/**
 * Appends at the exact revision that was decided on; no events, no append.
 * @throws RevisionConflict after five lost races, unless the decider itself refuses by then
 */
export async function handleCommand<S, E extends LinkledgerEvent>(
  deps: CommandDeps,
  context: CommandContext,
  command: Command<S, E>,
): Promise<CommandResult<S, E>> {
  let loaded = absent(command.initial);
  let isLoaded = command.expectNew ?? false;
  for (let attempt = 1; ; attempt++) {
    if (!isLoaded) loaded = await loadStream(deps.eventStore, command, loaded);
    const events = command.decide(loaded.state);
    if (events.length === 0) return { ...loaded, events };
    try {
      const appended = await append(deps, context, command, loaded.revision, events);
      return { state: events.reduce(command.fold, loaded.state), events, ...appended };
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
      if (attempt >= TRIES) return await lastWord(deps, command, loaded, error);
      if (!isLoaded) await deps.sleep(LEAST_WAIT_MS + deps.random() * (MOST_WAIT_MS - LEAST_WAIT_MS));
      isLoaded = false;
    }
  }
}

/**
 * Folds a stream as it is now, page by page; unknown event types count for the revision only. `before`: what was
 * loaded of it already, whose state may be changed in place.
 */
export async function loadStream<S, E extends LinkledgerEvent>(
  eventStore: Pick<EventStore, "read">,
  command: Pick<Command<S, E>, "stream" | "initial" | "fold">,
  before: Loaded<S> = absent(command.initial),
): Promise<Loaded<S>> {
  let loaded = before;
  const from = before.revision === "none" ? 0 : before.revision + 1;
  for await (const page of streamPages(eventStore, command.stream, from)) {
    for (const recorded of page) {
      const event = readEvent(recorded);
      const state = event ? command.fold(loaded.state, event as unknown as E) : loaded.state;
      loaded = { state, revision: recorded.revision, position: recorded.position };
    }
  }
  return loaded;
}

function absent<S>(initial: S): Loaded<S> {
  return { state: initial, revision: "none", position: undefined };
}

function append<S, E extends LinkledgerEvent>(
  deps: CommandDeps,
  context: CommandContext,
  command: Command<S, E>,
  expected: ExpectedRevision,
  events: readonly E[],
): Promise<AppendResult> {
  const { requestId, actor } = context;
  const origin = { correlationId: requestId, causationId: requestId, actor };
  const idOf = command.eventId ?? deps.newId;
  const stamped = events.map((event, index) => newEvent(event, idOf(index), origin));
  return deps.eventStore.append(command.stream, expected, stamped);
}

/** Who lost every race may by now be refused, or have nothing left to do; that says more than the conflict. */
async function lastWord<S, E extends LinkledgerEvent>(
  deps: CommandDeps,
  command: Command<S, E>,
  before: Loaded<S>,
  conflict: RevisionConflict,
): Promise<CommandResult<S, E>> {
  const loaded = await loadStream(deps.eventStore, command, before);
  const events = command.decide(loaded.state);
  if (events.length > 0) throw conflict;
  return { ...loaded, events };
}
