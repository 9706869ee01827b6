// A batch of the log, parsed once for all projections of a group.

import type { StoredEvent } from "../../events/catalogue.ts";
import { EventUnreadable, readEvent } from "../../events/read-event.ts";
import type { Position, RecordedEvent } from "../../stores/event-store/port.ts";
import { type SetAsideEvent, setAsideEvent } from "../../stores/read-store/set-aside.ts";

/** `events`: those that could be read, in order. `newer`: those of a newer program. */
export type EventBatch = {
  recorded: readonly RecordedEvent[];
  events: readonly StoredEvent[];
  unreadable: readonly SetAsideEvent[];
  newer: readonly RecordedEvent[];
};

export function parseBatch(recorded: readonly RecordedEvent[]): EventBatch {
  const events: StoredEvent[] = [];
  const unreadable: SetAsideEvent[] = [];
  const newer: RecordedEvent[] = [];
  for (const one of recorded) {
    try {
      events.push(readEvent(one));
    } catch (error) {
      if (error instanceof EventUnreadable) unreadable.push(setAsideEvent(one, error));
      else newer.push(one);
    }
  }
  return { recorded, events, unreadable, newer };
}

/** The events after one position and before another; undefined for no limit. The same array where nothing is cut. */
export function between<T extends { position: Position }>(
  events: readonly T[],
  after: Position,
  before: Position | undefined,
): readonly T[] {
  const last = events.at(-1);
  const isWhole =
    !last || ((events[0] as T).position > after && (before === undefined || last.position < before));
  if (isWhole) return events;
  return events.filter(({ position }) => position > after && (before === undefined || position < before));
}
