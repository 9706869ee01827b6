// A batch of the log, parsed once for all projections of a group.
import type { Position, RecordedEvent } from "../../event-store/port.ts";
import type { StoredEvent } from "../../events/catalogue.ts";
import { readEvent } from "../../events/read-event.ts";

export type Unreadable = { recorded: RecordedEvent; error: unknown };

/** `events`: those of known types that could be read, in order. An unreadable event faults only who handles its type. */
export type EventBatch = {
  recorded: readonly RecordedEvent[];
  events: readonly StoredEvent[];
  unreadable: readonly Unreadable[];
};

export function parseBatch(recorded: readonly RecordedEvent[]): EventBatch {
  const events: StoredEvent[] = [];
  const unreadable: Unreadable[] = [];
  for (const one of recorded) {
    try {
      const event = readEvent(one);
      if (event) events.push(event);
    } catch (error) {
      unreadable.push({ recorded: one, error });
    }
  }
  return { recorded, events, unreadable };
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
