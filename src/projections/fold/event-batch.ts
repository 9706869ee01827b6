// A part of the log, parsed once for all projections of a group, up to the first event that only a newer program can fold.
import { isEventType, type StoredEvent } from "../../events/catalogue.ts";
import { EventUnreadable, readFollowed } from "../../events/read-event.ts";
import { type SetAsideEvent, setAsideEvent } from "../../stores/coordination/set-aside.ts";
import type { RecordedEvent } from "../../stores/event-store/port.ts";
import type { AwaitedEvent } from "../../stores/read-store/port.ts";

/** `last`: of those before `waitsFor`. */
type EventBatch = {
  count: number;
  last: RecordedEvent | undefined;
  events: StoredEvent[];
  unreadable: SetAsideEvent[];
  waitsFor: AwaitedEvent | undefined;
};

/** `handles`: whether the group folds events of the type; of others that can't be read it needs nothing. */
export function parseBatch(
  recorded: readonly RecordedEvent[],
  handles: (type: string) => boolean,
): EventBatch {
  const batch: EventBatch = { count: 0, last: undefined, events: [], unreadable: [], waitsFor: undefined };
  for (const event of recorded) {
    const isWanted = handles(event.type) || !isEventType(event.type);
    try {
      if (isWanted) batch.events.push(readFollowed(event));
    } catch (error) {
      if (!(error instanceof EventUnreadable)) {
        const { position, stream, revision, type } = event;
        batch.waitsFor = { position, stream, revision, type };
        break;
      }
      batch.unreadable.push(setAsideEvent(event, error));
    }
    batch.count += 1;
    batch.last = event;
  }
  return batch;
}
