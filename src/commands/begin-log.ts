// How a log begins: an event store is never empty and seldom ours alone, so the first who comes notes which log this is, and
// behind which position of the store it is read.
import type { LogBegun, StoredEvent } from "../events/catalogue.ts";
import { newEvent } from "../events/new-event.ts";
import { EventNewer, readEvent } from "../events/read-event.ts";
import { ALL_CATEGORIES, LOG_STREAM } from "../events/streams.ts";
import {
  type EventStore,
  type Position,
  type RecordedEvent,
  RevisionConflict,
  START,
} from "../stores/event-store/port.ts";
import { Refused } from "./refusals.ts";

/** `position`: of its first event. `after`: behind which it is read. */
export type LogBeginning = { logId: string; position: Position; after: Position };

export type BeginLogDeps = {
  eventStore: Pick<EventStore, "append" | "head" | "read" | "readAll">;
  clock: () => Date;
  newId: () => string;
};

/** Undefined of a log that has not begun. @throws what the store throws */
export async function beginningOf(eventStore: Pick<EventStore, "read">): Promise<LogBeginning | undefined> {
  const [first] = await eventStore.read(LOG_STREAM, { limit: 1 });
  if (!first) return undefined;
  const { data, position } = readEvent(first) as StoredEvent & LogBegun;
  return { logId: data.logId, position, after: data.after ?? START };
}

/**
 * Of many at once one begins it, and the others read how. One that has events of ours already is read from the start of the
 * store. @throws streams_of_others; what the store throws
 */
export async function beginLog({ eventStore, clock, newId }: BeginLogDeps): Promise<LogBeginning> {
  const begun = await beginningOf(eventStore);
  if (begun) return begun;
  const head = await eventStore.head();
  const { events } = await eventStore.readAll({ after: START, categories: ALL_CATEGORIES, limit: 1 });
  const [first] = events;
  if (first && !isOurs(first)) throw streamsOfOthers(first.stream);
  const after = first ? START : head;
  const data = { at: clock().toISOString(), logId: newId(), ...(after !== START && { after }) };
  try {
    await eventStore.append(LOG_STREAM, "none", [newEvent({ type: "LogBegun", data }, newId())]);
  } catch (error) {
    if (!(error instanceof RevisionConflict)) throw error;
  }
  const beginning = await beginningOf(eventStore);
  if (!beginning) throw new Error("the beginning of the log can't be read back");
  return beginning;
}

function isOurs(event: RecordedEvent): boolean {
  try {
    readEvent(event);
    return true;
  } catch (error) {
    return error instanceof EventNewer;
  }
}

/** One that was begun there would set each event of the others aside. */
function streamsOfOthers(stream: string): Refused {
  return new Refused(
    "streams_of_others",
    `Another program writes streams of the event store that would be taken for ours, such as ${stream}: set EVENTSTORE_PREFIX to what no stream there begins with, such as linkledger_`,
  );
}
