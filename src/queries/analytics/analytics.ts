// The numbers of a link in any range of time and any zone, as of any position of the log, or of its whole life: what the API
// asks.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import pLimit from "p-limit";
import { CLICK_KINDS, RECENT_CLICKS } from "../../events/vocabulary.ts";
import { ProjectionNotBuilt } from "../../projections/builds/errors.ts";
import type { ClickGap } from "../../projections/definitions/click-gaps.ts";
import { dateOf, hitsOfKind } from "../../projections/definitions/days/days.ts";
import type { LinkDayDocument } from "../../projections/definitions/days/link-day.ts";
import { countVisitors } from "../../projections/definitions/days/visitors.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import {
  type RecentClick,
  type RecentClickRow,
  recentClick,
} from "../../projections/definitions/recent-clicks.ts";
import { clicks as clickGroup } from "../../projections/groups.ts";
import { utcDate } from "../../runtime/moment.ts";
import { Refused } from "../../runtime/refused.ts";
import { refuseForeignPosition } from "../../stores/event-store/foreign-position.ts";
import { upTo } from "../../stores/event-store/log-pages.ts";
import { msBehind, nextEventFinder } from "../../stores/event-store/next-event.ts";
import { type EventStore, type Position, START } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { linkFromStream } from "../links/find-link.ts";
import { daysInRange, type LogParts } from "./day-parts.ts";
import { gapsBetween } from "./gaps.ts";
import { type Interval, pointsOf, startOfDay } from "./intervals.ts";
import { readLinkDays, readWholeLife } from "./link-days.ts";
import { positionAsOf } from "./log-positions.ts";
import type { RangeRequest } from "./range.ts";
import {
  type Breakdowns,
  breakdownSum,
  type HitSeries,
  hitCounts,
  hitSum,
  midnightOf,
  quartersIn,
} from "./sums.ts";
import { DAY_MS, QUARTER_MS, UTC } from "./time-zone.ts";

export type AnalyticsDeps = {
  readStore: ReadStore;
  eventStore: EventStore;
  sleep: (ms: number) => Promise<void>;
  logParts: LogParts;
};

/** Of a UTC day with visitors, YYYY-MM-DD, for which visitors have codes that tell them apart. */
export type DayVisitors = { day: string; visitors: number; estimated: boolean };

/**
 * `link`: as of `position`, which all numbers are as of; START for an empty log. `from`, `to`: of the series, milliseconds.
 * `behindMs`: how long ago the first click after `position` was recorded; 0 when there is none.
 */
export type LinkAnalytics = HitSeries &
  Breakdowns & {
    link: LinkDocument;
    interval: Interval;
    from: number;
    to: number;
    visitors: DayVisitors[];
    /** Those of the range among the link's latest, newest first; none as of an earlier time. */
    recent: RecentClick[];
    /** Of a range: clicks that were not recorded. */
    gaps: ClickGap[];
    position: Position;
    behindMs: number;
  };

const HOUR_MS = 3_600_000;
/** Clocks of clients differ. */
export const CLOCK_DIFFERENCE_MS = 60_000;
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

/** One for all that ask, as it keeps what it has read of the log. */
export function analytics(deps: AnalyticsDeps) {
  const { eventStore, readStore } = deps;
  const next = nextEventFinder(eventStore, clickGroup.categories);
  const inRange = daysInRange(deps);
  const inTurn = pLimit(LONG_AT_A_TIME);

  /** Without `asOf` as of now when nothing is left to be counted, else as of the last click that is. */
  async function freshness(counted: Position, asOf: Position | undefined, now: Date) {
    const head = await eventStore.head();
    const click = await next(asOf ?? counted);
    const position = asOf ?? (click || head < counted ? counted : head);
    return { position, behindMs: msBehind(click, now) };
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
    return await positionAsOf(deps, link, new Date(time).toISOString());
  }

  /** Waits until all clicks up to the position are counted. */
  async function whenCounted(position: Position): Promise<void> {
    for (let waited = 0; ; waited += POLL_MS) {
      const counted = (await readStore.checkpoint(clickGroup.name))?.position ?? START;
      const click = counted < position ? await next(counted) : undefined;
      if (!click || click.position > position) return;
      if (waited >= COUNTED_WITHIN_MS)
        throw new ProjectionNotBuilt("Clicks before as_of are still being counted", RETRY_AFTER_S);
      await deps.sleep(POLL_MS);
    }
  }

  async function ofRange(present: LinkDocument, request: RangeRequest, now: Date): Promise<LinkAnalytics> {
    const asOf = request.asOf && (await positionOf(present._id, request.asOf, now));
    const linkThen = async () => asOf && (await linkFromStream(upTo(eventStore, asOf), present._id));
    const link = request.asOf ? await linkThen() : present;
    if (!link) throw new Refused("not_found", "The link did not exist at as_of.");
    if (asOf !== undefined) await whenCounted(asOf);
    const { to, kinds } = request;
    const wanted = { from: dayAt(request.from), to: dayAt(to) };
    const { clicks, days, position: counted, rules } = await readLinkDays(deps, present._id, wanted);
    const from = request.from ?? firstDay(request, link, days[0], asOf);
    const series = { from, to: to ?? endOf(request, now) };
    const { interval, starts } = pointsOf(request, series);
    const cut = {
      from,
      to: to ?? Number.POSITIVE_INFINITY,
      now: now.getTime(),
      asOf: asOf ?? counted,
      rules,
    };
    const numbers = await inRange(present._id, days, cut);
    const [hits, breakdowns] = [hitSum(starts, kinds), breakdownSum()];
    const visitors: DayVisitors[] = [];
    for (const [n, { day, numbers: ofDay }] of numbers.entries()) {
      if (n % DAYS_AT_A_TIME === DAYS_AT_A_TIME - 1) await yieldToLoop();
      hits.add(day, ofDay.quarters);
      const ofKinds = kinds.flatMap((kind) => ofDay.kinds[kind] ?? []);
      for (const ofKind of ofKinds) breakdowns.add(ofKind);
      const hitsOfDay = kinds.reduce((sum, kind) => sum + hitsOfKind(ofDay, kind), 0);
      const distinct = countVisitors(
        ofKinds.map((ofKind) => ofKind.visitors),
        hitsOfDay,
      );
      if (distinct.visitors > 0) visitors.push({ day, ...distinct });
    }
    const recent = clicks?.recent ?? [];
    return {
      link,
      interval,
      ...series,
      ...hits.result(),
      ...breakdowns.result(),
      visitors,
      recent: asOf === undefined ? recentIn(recent, cut, kinds) : [],
      gaps: await gapsBetween(readStore, series.from, series.to),
      ...(await freshness(counted, asOf, now)),
    };
  }

  async function ofWholeLife(link: LinkDocument, now: Date): Promise<LinkAnalytics> {
    const presentHour = now.getTime() - (now.getTime() % HOUR_MS);
    const lastHours = { from: presentHour - 23 * HOUR_MS, to: presentHour + HOUR_MS };
    const dates = [lastHours.from, presentHour].map((time) => utcDate(new Date(time)));
    const { clicks, days, position } = await readWholeLife(deps, link._id, dates);
    const { interval, starts } = pointsOf({ zone: UTC, interval: "hour" }, lastHours);
    const [hits, breakdowns] = [hitSum(starts, CLICK_KINDS), breakdownSum()];
    for (const day of days) hits.add(dateOf(day), quartersIn(day, lastHours));
    for (const kind of Object.values(clicks?.kinds ?? {})) breakdowns.add(kind);
    const { series } = hits.result();
    return {
      link,
      interval,
      ...lastHours,
      series,
      totals: hitCounts(clicks),
      ...breakdowns.result(),
      visitors: [],
      recent: (clicks?.recent ?? []).slice(0, RECENT_CLICKS).map(recentClick),
      gaps: [],
      ...(await freshness(position, undefined, now)),
    };
  }

  /**
   * `link`: as it is at present. Without a range: of its whole life, with a series of the last 24 hours and no visitors.
   * @throws invalid_range, invalid_position, not_found, ProjectionNotBuilt; what the stores throw
   */
  async function ofLink(
    link: LinkDocument,
    range: RangeRequest | undefined,
    now: Date,
  ): Promise<LinkAnalytics> {
    if (!range) return await ofWholeLife(link, now);
    const isLong = (range.to ?? now.getTime()) - (range.from ?? 0) > LONG_MS;
    const ask = () => ofRange(link, range, now);
    return isLong ? await inTurn(ask) : await ask();
  }

  return { ofLink };
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
  const isAsOfThen = asOf === undefined || day._position <= asOf;
  const [quarter] = (isAsOfThen ? day.quarters[0] : undefined) ?? [0];
  return midnightOf(dateOf(day)) + quarter * QUARTER_MS;
}

function endOf({ asOf }: RangeRequest, now: Date): number {
  return asOf && "time" in asOf ? Math.min(asOf.time, now.getTime()) : now.getTime();
}
