// What the log was at an earlier time: its position then, and when a link's clicks were corrected later.
import { LRUCache } from "lru-cache";
import { logPages } from "../../../event-store/log-pages.ts";
import type { EventStore, Position } from "../../../event-store/port.ts";
import { streamPages } from "../../../event-store/stream-pages.ts";
import { CATEGORY, PREFIX, withdrawalStream } from "../../../events/streams.ts";
import { clickHours, hourOf } from "../../../projections/definitions/click-hours.ts";
import { checkpointName } from "../../../projections/projection.ts";
import type { ReadStore } from "../../../read-store/port.ts";
import { lastPositionIn } from "../click-positions.ts";

/** lastClickRecordedBy, where reading the log delays nobody. */
export type LastClickRecordedBy = (
  time: string,
  after: Position,
  upTo: Position | undefined,
) => Promise<Position | undefined>;

type Deps = {
  eventStore: Pick<EventStore, "read">;
  readStore: Pick<ReadStore, "find" | "checkpoint">;
  logParts: { lastClickRecordedBy: LastClickRecordedBy };
};

/** Some 100 bytes each; without them up to an hour of the log is read for each request as of the same time. */
const KEPT_TIMES = 1_000;
const HOUR_MS = 3_600_000;
const BATCH = 1_000;

/**
 * A link as of a time is the log up to the last click, or change of the link, that was recorded by then. Clocks may be set
 * back: what stands before such an event in the log is part of it, whatever time it was recorded under. Undefined for a
 * link whose creation was recorded later. `time`: ISO 8601 UTC. @throws what the stores throw
 */
export function positionsAsOf(deps: Deps): (link: string, time: string) => Promise<Position | undefined> {
  const lastClick = lastClicks(deps);
  return async (link, time) => {
    const ofLink = [`${PREFIX.link}${link}`, withdrawalStream(link)] as const;
    const [created] = await deps.eventStore.read(ofLink[0], { limit: 1 });
    if (!created || created.recordedAt > time) return undefined;
    const found = await Promise.all([
      lastClick(time),
      ...ofLink.map((stream) => lastRecordedBy(streamPages(deps.eventStore, stream), time)),
    ]);
    return found.reduce<Position>((last, one = "") => (one > last ? one : last), "");
  };
}

/**
 * By the last positions of the hours of recording, so that one hour of the log is read, and what its index lacks yet. The
 * checkpoint first: the index may be ahead of it, not behind.
 */
function lastClicks({ readStore, logParts }: Deps): (time: string) => Promise<Position | undefined> {
  const kept = new LRUCache<string, Position>({ max: KEPT_TIMES });
  const inHour = async (time: string, before: Position, last: Position): Promise<Position> => {
    // Nothing between them changes any more.
    const key = `${time} ${before} ${last}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const found = (await logParts.lastClickRecordedBy(time, before, last)) ?? before;
    kept.set(key, found);
    return found;
  };
  return async (time) => {
    const hour = `${hourOf(time)}:00:00.000Z`;
    const next = new Date(Date.parse(hour) + HOUR_MS).toISOString();
    const indexed = (await readStore.checkpoint(checkpointName(clickHours)))?.position ?? "";
    const before = (await lastPositionIn({ readStore }, "", hour)) ?? "";
    const last = (await lastPositionIn({ readStore }, hour, next)) ?? "";
    const notIndexed = await logParts.lastClickRecordedBy(time, indexed, undefined);
    return notIndexed ?? (last > before ? await inHour(time, before, last) : before);
  };
}

/** The last click of the part of the log that was recorded by the time. `after`: "" for the start. */
export async function lastClickRecordedBy(
  { eventStore }: { eventStore: Pick<EventStore, "readAll"> },
  time: string,
  after: Position,
  upTo: Position | undefined,
): Promise<Position | undefined> {
  const part = { after, upTo, categories: [CATEGORY.clicks], limit: BATCH };
  return await lastRecordedBy(logPages(eventStore, part), time);
}

async function lastRecordedBy(
  pages: AsyncIterable<readonly { position: Position; recordedAt: string }[]>,
  time: string,
): Promise<Position | undefined> {
  let last: Position | undefined;
  for await (const page of pages)
    last = page.findLast(({ recordedAt }) => recordedAt <= time)?.position ?? last;
  return last;
}

/** Position of the first withdrawal of the link's clicks, or end of one, after the position; undefined for none. */
export async function firstCorrectionAfter(
  { eventStore }: { eventStore: Pick<EventStore, "read"> },
  link: string,
  after: Position,
): Promise<Position | undefined> {
  for await (const page of streamPages(eventStore, withdrawalStream(link))) {
    const later = page.find(({ position }) => position > after);
    if (later) return later.position;
  }
  return undefined;
}
