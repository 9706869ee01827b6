// A reader's next event: found without searching the same range of the log twice, and how long it has been there.
import type { EventStore, Position, RecordedEvent } from "./port.ts";

export type NextEvent = (after: Position) => Promise<RecordedEvent | undefined>;

/**
 * Finds the first event after a position in streams of the categories. It keeps the range that it found empty,
 * because a store may have to scan millions of other events to find nothing.
 */
export function nextEventFinder(
  eventStore: Pick<EventStore, "readAll">,
  categories: readonly string[],
): NextEvent {
  let empty: { after: Position; upTo: Position } | undefined;
  return async (after) => {
    const from = empty && after >= empty.after && after < empty.upTo ? empty.upTo : after;
    const { events, next } = await eventStore.readAll({ after: from, categories, limit: 1 });
    const [event] = events;
    // Adjacent ranges are joined; a later range that is not adjacent replaces the known one.
    if (!event) empty = { after: empty && from === empty.upTo ? empty.after : after, upTo: next };
    return event;
  };
}

/** How long ago the next event of a reader was recorded, in milliseconds; 0 when it has read all. */
export function msBehind(next: RecordedEvent | undefined, now: Date): number {
  return next ? Math.max(0, now.getTime() - Date.parse(next.recordedAt)) : 0;
}
