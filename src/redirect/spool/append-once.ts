// Appends clicks to the writer's own stream exactly once, across retries, restarts and processes.
import { type EventStore, type NewEvent, RevisionConflict } from "../../stores/event-store/port.ts";

/** `after`: last revision of the stream before these events, -1 before the first one. */
export type ClickBatch = { stream: string; after: number; events: readonly NewEvent[] };

export type ClickLog = Pick<EventStore, "append" | "read">;

/**
 * The stream has one writer, which always sends the same events in the same order. So events after revision `after`
 * are a prefix of this batch, stored by an append whose answer was lost; only the remaining events are appended.
 * @throws RevisionConflict when other events are there, or when the stream is still before `after`: the clicks of a
 *   crashed thread have to be appended first, or the store was restored from a backup; else what the store throws
 */
export async function appendOnce(store: ClickLog, { stream, after, events }: ClickBatch): Promise<void> {
  try {
    await store.append(stream, after < 0 ? "none" : after, events);
  } catch (error) {
    if (!(error instanceof RevisionConflict)) throw error;
    const there = await store.read(stream, { from: after + 1, limit: events.length });
    const last = there.at(-1);
    if (!last || there.some(({ id }, index) => id !== events[index]?.id)) throw error;
    if (there.length < events.length) await store.append(stream, last.revision, events.slice(there.length));
  }
}
