// From the spool into the event store: each click exactly once, at the revision it was given when it was taken in.
import { type EventStore, RevisionConflict } from "../event-store/port.ts";
import type { ClickSpool, SpooledClicks } from "./click-spool.ts";

export type DrainStore = Pick<EventStore, "append" | "read">;

/** Many small appends of an outage join into few; an adapter with a smaller limit cuts them itself. */
const MAX_CLICKS_AN_APPEND = 2_000;

/**
 * Moves the oldest clicks; does nothing when none wait. Cut off anywhere, the next drain does the same append again.
 * @throws what the store throws; the clicks stay in the spool then
 */
export async function drainOldest(spool: ClickSpool, eventStore: DrainStore): Promise<void> {
  const clicks = spool.oldest(MAX_CLICKS_AN_APPEND);
  if (!clicks) return;
  await appendOnce(eventStore, clicks);
  spool.drop(clicks.upTo);
}

/** An earlier drain may have joined the appends in another way, so that only the first of these events are there. */
async function appendOnce(
  eventStore: DrainStore,
  { stream, expected, events }: SpooledClicks,
): Promise<void> {
  try {
    await eventStore.append(stream, expected, events);
  } catch (error) {
    if (!(error instanceof RevisionConflict)) throw error;
    const from = expected === "none" ? 0 : expected + 1;
    const there = await eventStore.read(stream, { from, limit: events.length });
    const last = there.at(-1);
    if (!last || there.some(({ id }, index) => id !== events[index]?.id)) throw error;
    if (there.length === events.length) return;
    await eventStore.append(stream, last.revision, events.slice(there.length));
  }
}
