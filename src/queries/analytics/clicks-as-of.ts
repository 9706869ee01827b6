// Up to when the clicks are counted that analytics answer, for `as_of` while the projector catches up.
import { msBehind, nextEventFinder } from "../../event-store/next-event.ts";
import type { EventStore, Position } from "../../event-store/port.ts";
import { linkClicks } from "../../projections/definitions/link-clicks.ts";
import { checkpointName } from "../../projections/projection.ts";
import type { ReadStore } from "../../read-store/port.ts";

export type ClicksAsOfDeps = {
  eventStore: Pick<EventStore, "head" | "readAll">;
  readStore: Pick<ReadStore, "checkpoint">;
};

/** Clicks are counted within two seconds, unless there are more than can be folded. */
const LATE_MS = 5_000;

/**
 * `position`: all clicks up to it are counted; "" for none. `behindMs`: how long ago the first click after it was
 * recorded; 0 when there is none. `asOf`: the time of that click (ISO 8601 UTC), when it is more than five seconds ago.
 */
export type CountedClicks = { position: Position; behindMs: number; asOf: string | undefined };

/** To be called before the documents are read. @throws what the stores throw */
export function clicksAsOf({ eventStore, readStore }: ClicksAsOfDeps): (now: Date) => Promise<CountedClicks> {
  const next = nextEventFinder(eventStore, linkClicks.categories);
  return async (now) => {
    const position = (await readStore.checkpoint(checkpointName(linkClicks)))?.position ?? "";
    const first = await next(position);
    const behindMs = msBehind(first, now);
    return { position, behindMs, asOf: behindMs > LATE_MS ? first?.recordedAt : undefined };
  };
}
