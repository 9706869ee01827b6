// Appends clicks to the writer's own stream exactly once, however often it is tried and whoever tries it.
import { type EventStore, type NewEvent, RevisionConflict } from "../../event-store/port.ts";

/** `after`: last revision of the stream before these events, -1 before the first one. */
export type ClickBatch = { stream: string; after: number; events: NewEvent[] };

export type ClickLog = Pick<EventStore, "append" | "read">;

/**
 * Nobody else appends to the stream, and its events always come in the same order: what is there behind `after` is a
 * beginning of these events, left by an append whose answer was lost, and the rest is appended behind it.
 * @throws RevisionConflict when something else is there, or the stream has not come to `after` yet, because a dead
 *   thread's clicks come first or the store was set back to a backup; else what the store throws
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
