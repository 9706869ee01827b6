// Appends clicks to their writer's stream exactly once, across retries, restarts and processes.
import { type EventStore, type NewEvent, RevisionConflict } from "../../stores/event-store/port.ts";

/** `after`: last revision of the stream before these events, -1 before the first one. */
export type ClickBatch = { stream: string; after: number; events: readonly NewEvent[] };

export type ClickLog = Pick<EventStore, "append" | "read">;

/** `revision`: the stream's last one. `isThere`: by an earlier append, wherever in the stream. */
export type AppendedClicks = { revision: number; isThere: boolean };

/** How far from its end a stream is searched for events that are not where they should be. */
const MOST_SEARCHED = 5_000;

/**
 * The stream is where it should be, unless the answer to an earlier append was lost, or clicks before these are missing:
 * in a journal that can't be read, or in a log that was restored from a backup. Then those that are not there are
 * appended to its end, so that no click waits for another that may never come. `isRepeated`: an earlier append of them may
 * have put them anywhere.
 * @throws what the store throws; RevisionConflict when another process appends to the stream in this moment
 */
export async function appendClicks(
  store: ClickLog,
  { stream, after, events }: ClickBatch,
  { isRepeated = false } = {},
): Promise<AppendedClicks> {
  try {
    if (!isRepeated) {
      const { revision } = await store.append(stream, after < 0 ? "none" : after, events);
      return { revision, isThere: false };
    }
  } catch (error) {
    if (!(error instanceof RevisionConflict)) throw error;
  }
  const inPlace = await store.read(stream, { from: after + 1, limit: events.length });
  const atEnd = await store.read(stream, { backwards: true, limit: MOST_SEARCHED });
  const there = new Set([...inPlace, ...atEnd].map(({ id }) => id));
  const missing = events.filter(({ id }) => !there.has(id));
  const end = atEnd[0]?.revision;
  if (missing.length === 0) return { revision: end ?? -1, isThere: true };
  const { revision } = await store.append(stream, end ?? "none", missing);
  return { revision, isThere: false };
}
