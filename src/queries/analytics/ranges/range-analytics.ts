// The numbers of a link in any range of time and any zone, as of any position of the log, for the API and the portal.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import pLimit from "p-limit";
import { refuseForeignPosition } from "../../../event-store/foreign-position.ts";
import { upTo } from "../../../event-store/log-pages.ts";
import { msBehind, nextEventFinder } from "../../../event-store/next-event.ts";
import type { EventStore, Position } from "../../../event-store/port.ts";
import { RECENT_CLICKS } from "../../../events/vocabulary.ts";
import { ProjectionNotBuilt } from "../../../projections/builds/errors.ts";
import { dateOf } from "../../../projections/definitions/days/days.ts";
import type { LinkDayDocument } from "../../../projections/definitions/days/link-day.ts";
import { linkClicks } from "../../../projections/definitions/link-clicks.ts";
import type { LinkDocument } from "../../../projections/definitions/links.ts";
import {
  type RecentClick,
  type RecentClickRow,
  recentClick,
} from "../../../projections/definitions/recent-clicks.ts";
import { checkpointName } from "../../../projections/projection.ts";
import type { ReadStore } from "../../../read-store/port.ts";
import { utcDate } from "../../../runtime/moment.ts";
import { Refused } from "../../../runtime/refused.ts";
import { linkFromStream } from "../../links/link-from-stream.ts";
import { positionsAsOf } from "./as-of.ts";
import { bucketStarts, fittingInterval, type Interval, MOST_FITTING_POINTS, startOfDay } from "./buckets.ts";
import { type BeforeLogRead, daysInRange, type LogParts } from "./days-in-range.ts";
import type { RangeRequest } from "./range-request.ts";
import { type RangeSum, rangeSum } from "./range-sum.ts";
import { readLinkDays } from "./read-days.ts";
import { DAY_MS, QUARTER_MS } from "./time-zone.ts";

export type RangeAnalyticsDeps = {
  readStore: ReadStore;
  eventStore: EventStore;
  sleep: (ms: number) => Promise<void>;
  logParts: LogParts;
};

/**
 * `link`: as of `position`, which all numbers are as of; "" for an empty log. `from`, `to`: of the series, milliseconds.
 * `behindMs`: how long ago the first click after `position` was recorded; 0 when there is none.
 */
export type RangeAnalytics = RangeSum & {
  link: LinkDocument;
  interval: Interval;
  /** Those of the range among the link's latest, newest first; none as of an earlier time. */
  recent: RecentClick[];
  /** Whether the link has ever been hit, at any time and by any kind. */
  everHit: boolean;
  from: number;
  to: number;
  position: Position;
  behindMs: number;
};

/** `link`: as it is at present. */
type AskRange = (
  link: LinkDocument,
  request: RangeRequest,
  now: Date,
  beforeLogRead?: BeforeLogRead,
) => Promise<RangeAnalytics>;

export const MOST_POINTS = 5_000;
/** Clocks of clients differ. */
const CLOCK_DIFFERENCE_MS = 60_000;
/** Clicks are counted within two seconds, unless there are more than can be folded. */
const COUNTED_WITHIN_MS = 3_000;
const POLL_MS = 50;
const RETRY_AFTER_S = 2;
/** A day whose tallies are full takes some two milliseconds, which redirects wait for. */
const DAYS_AT_A_TIME = 4;
/**
 * A day whose tallies are full takes some 350 KB of memory until the answer is there: ten answers of a year at a time
 * would need more than the process may have.
 */
const LONG_MS = 31 * DAY_MS;
const LONG_AT_A_TIME = 2;

/** The query @throws invalid_range, invalid_position, not_found, ProjectionNotBuilt; what the stores throw */
export function rangeAnalytics(deps: RangeAnalyticsDeps): AskRange {
  const { eventStore, readStore } = deps;
  const next = nextEventFinder(eventStore, linkClicks.categories);
  const nextThen = nextEventFinder(eventStore, linkClicks.categories);
  const inRange = daysInRange(deps);
  const positionAsOf = positionsAsOf(deps);
  const inTurn = pLimit(LONG_AT_A_TIME);

  /** As of now when nothing is left to be counted, else as of the last click that is. */
  async function freshness(counted: Position, now: Date) {
    const head = (await eventStore.head()) ?? "";
    const click = await next(counted);
    return { position: click || head < counted ? counted : head, behindMs: msBehind(click, now) };
  }

  /** Undefined when the link did not exist then. */
  async function positionOf(
    link: string,
    asOf: NonNullable<RangeRequest["asOf"]>,
    now: Date,
  ): Promise<Position | undefined> {
    if ("position" in asOf) {
      await refuseForeignPosition(deps, asOf.position);
      return asOf.position;
    }
    const { time } = asOf;
    if (time > now.getTime() + CLOCK_DIFFERENCE_MS)
      throw new Refused("invalid_range", "as_of must not be in the future");
    return await positionAsOf(link, new Date(time).toISOString());
  }

  /** Waits until all clicks up to the position are counted. */
  async function whenCounted(position: Position): Promise<void> {
    for (let waited = 0; ; waited += POLL_MS) {
      const counted = (await readStore.checkpoint(checkpointName(linkClicks)))?.position ?? "";
      const click = counted < position ? await next(counted) : undefined;
      if (!click || click.position > position) return;
      if (waited >= COUNTED_WITHIN_MS)
        throw new ProjectionNotBuilt("Clicks before as_of are still being counted", RETRY_AFTER_S);
      await deps.sleep(POLL_MS);
    }
  }

  const answer: AskRange = async (present, request, now, beforeLogRead) => {
    if (request.asOf) await beforeLogRead?.();
    const asOf = request.asOf && (await positionOf(present._id, request.asOf, now));
    const linkThen = async () => asOf && (await linkFromStream(upTo(eventStore, asOf), present._id));
    const link = request.asOf ? await linkThen() : present;
    if (!link) throw new Refused("not_found", "The link did not exist at as_of.");
    if (asOf !== undefined) await whenCounted(asOf);
    const { from, to } = request;
    const wanted = { from: dayAt(from), to: dayAt(to) };
    const { days, recent, position: counted, rules } = await readLinkDays(deps, present._id, wanted);
    const series = { from: from ?? firstDay(request, link, days[0], asOf), to: to ?? endOf(request, now) };
    const sum = rangeSum(startsOf(request, series), request.kinds);
    const cut = { from: series.from, to: to ?? Number.POSITIVE_INFINITY, now: now.getTime() };
    const ofDays = { ...cut, asOf: asOf ?? counted, rules };
    const numbers = await inRange(present._id, days, ofDays, beforeLogRead);
    for (const [n, { day, numbers: ofDay }] of numbers.entries()) {
      if (n % DAYS_AT_A_TIME === DAYS_AT_A_TIME - 1) await yieldToLoop();
      sum.add(day, ofDay);
    }
    const fresh =
      asOf === undefined
        ? await freshness(counted, now)
        : { position: asOf, behindMs: msBehind(await nextThen(asOf), now) };
    return {
      ...{ link, ...series, interval: intervalOf(request, series), ...sum.result(), ...fresh },
      recent: asOf === undefined ? recentIn(recent, cut, request.kinds) : [],
      everHit: days.length > 0 || recent.length > 0,
    };
  };

  return async (link, request, now, beforeLogRead) => {
    const isLong = (request.to ?? now.getTime()) - (request.from ?? 0) > LONG_MS;
    const ask = () => answer(link, request, now, beforeLogRead);
    return isLong ? await inTurn(ask) : await ask();
  };
}

function recentIn(
  rows: readonly RecentClickRow[],
  { from, to }: { from: number; to: number },
  kinds: RangeRequest["kinds"],
): RecentClick[] {
  const clicks = rows.map(recentClick).filter(({ at, type }) => {
    const time = Date.parse(at);
    return time >= from && time < to && kinds.includes(type);
  });
  return clicks.slice(0, RECENT_CLICKS);
}

/** The UTC day of an instant, YYYY-MM-DD. */
function dayAt(instant: number | undefined): string | undefined {
  return instant === undefined ? undefined : utcDate(new Date(instant));
}

/** Where a range without `from` begins: the local day of the link's creation, or of its first click, if that is earlier. */
function firstDay(
  { zone }: RangeRequest,
  { createdAt }: LinkDocument,
  first: LinkDayDocument | undefined,
  asOf: Position | undefined,
): number {
  const created = Date.parse(createdAt);
  return startOfDay(zone, first ? Math.min(created, firstClick(first, asOf)) : created);
}

/** The start of its quarter-hour. Of its day where the quarters may lack clicks that were withdrawn after `asOf`. */
function firstClick(day: LinkDayDocument, asOf: Position | undefined): number {
  const midnight = Date.parse(`${dateOf(day)}T00:00:00.000Z`);
  const isAsOfThen = asOf === undefined || day._position <= asOf;
  const [quarter] = (isAsOfThen ? day.quarters[0] : undefined) ?? [0];
  return midnight + quarter * QUARTER_MS;
}

function endOf({ asOf }: RangeRequest, now: Date): number {
  return asOf && "time" in asOf ? Math.min(asOf.time, now.getTime()) : now.getTime();
}

/** `series`: [from, to) in milliseconds. */
export function intervalOf(
  { interval }: Pick<RangeRequest, "interval">,
  series: { from: number; to: number },
): Interval {
  return interval ?? fittingInterval(series);
}

/** Of the points. @throws invalid_range for none, and for too many */
export function startsOf(
  request: Pick<RangeRequest, "zone" | "interval">,
  series: { from: number; to: number },
): number[] {
  if (series.from >= series.to)
    throw new Refused("invalid_range", "from must be before to; without to, before now or as_of");
  const most = request.interval ? MOST_POINTS : MOST_FITTING_POINTS;
  const starts = bucketStarts(request.zone, intervalOf(request, series), series, most);
  if (!starts)
    throw new Refused(
      "invalid_range",
      `The range has more than ${most} points: choose a longer interval, or a shorter range`,
    );
  return starts;
}
