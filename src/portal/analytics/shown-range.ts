// The range of time that a page of analytics shows, what it is compared with and how long its points are, read from its address.
// More than 24 hours needs the Developer tier.

import { z } from "zod";
import { hasDeveloperFeatures, type Tier } from "../../events/vocabulary.ts";
import {
  INTERVALS,
  type Interval,
  MOST_FITTING_POINTS,
  startBack,
} from "../../queries/analytics/intervals.ts";
import { COMPARISONS, type Comparison, type Period } from "../../queries/analytics/question.ts";
import { timeOf } from "../../queries/analytics/range.ts";
import {
  DAY_MS,
  HOUR_MS,
  instantOf,
  type TimeZone,
  timeZone,
  UTC,
} from "../../queries/analytics/time-zone.ts";
import { noTimeZone, parseDate } from "../../runtime/moment.ts";
import { cutText } from "../../runtime/text/cut-text.ts";

/** Each up to now, from the start of its first hour, day or month; with points of `interval` unless others are chosen. */
const NAMED = {
  "24h": { name: "24 hours", title: "last 24 hours", first: ["hour", 23], interval: "hour" },
  today: { name: "Today", title: "today", first: ["day", 0], interval: "hour" },
  "7d": { name: "7 days", title: "last 7 days", first: ["day", 6], interval: "day" },
  "30d": { name: "30 days", title: "last 30 days", first: ["day", 29], interval: "day" },
  "90d": { name: "90 days", title: "last 90 days", first: ["day", 89], interval: "day" },
  "12mo": { name: "12 months", title: "last 12 months", first: ["month", 11], interval: "month" },
} as const;
export type Range = keyof typeof NAMED;
const RANGES = Object.keys(NAMED) as Range[];

const LENGTHS: Readonly<Record<Interval, number>> = {
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 30 * DAY_MS,
};

export const LONGEST = 100;
/** What can't be typed in the form counts as empty. */
const typed = z
  .string()
  .transform((text) => cutText(text.trim(), LONGEST))
  .catch("");

export const RangeQuery = z.object({
  range: z
    .enum([...RANGES, "custom"])
    .optional()
    .catch(undefined),
  from: typed,
  to: typed,
  timezone: typed,
  interval: z.enum(INTERVALS).optional().catch(undefined),
  compare: z
    .enum([...COMPARISONS, "custom", "none"])
    .optional()
    .catch(undefined),
  compare_from: typed,
  compare_to: typed,
});
type RangeQuery = z.output<typeof RangeQuery>;

/** [from, to) in milliseconds; `to`: undefined for now. `interval`: undefined for one that fits. */
export type RangeRequest = {
  from: number | undefined;
  to: number | undefined;
  interval: Interval | undefined;
  compare: Comparison | Period | undefined;
};

/**
 * `typed`: as it stands in the address and the form. `request`: undefined when a field can't be read. `includesNow`: later
 * clicks will be in it. `name`: such as `last 7 days`. `intervals`: that points may have.
 */
export type PageRange = {
  choice: Range | "custom";
  typed: Omit<RangeQuery, "range"> & { range: Range | "custom" };
  errors: Partial<Record<keyof Period | `compare_${keyof Period}` | "timezone", string>>;
  zone: TimeZone;
  request: RangeRequest | undefined;
  includesNow: boolean;
  name: string;
  intervals: readonly Interval[];
};

/** Those that somebody can choose, with their names. `ofAll`: with the Developer plan. */
export function rangesFor(ofAll: boolean): { range: Range; name: string }[] {
  const hidden = ofAll ? "24h" : "today";
  return RANGES.filter((range) => range !== hidden).map((range) => ({ range, name: NAMED[range].name }));
}

/** The range that the query asks for if the tier allows it, else the last 24 hours. `ownZone`: where the query has none. */
export function pageRange(query: RangeQuery, tier: Tier, now: Date, ownZone = ""): PageRange {
  const isOfAll = hasDeveloperFeatures(tier);
  const isCustom = isOfAll && (query.range === "custom" || (!query.range && (query.from || query.to) !== ""));
  const choice = isCustom ? "custom" : isOfAll ? ((query.range as Range | undefined) ?? "7d") : "24h";
  const zoneName = query.timezone || (timeZone(ownZone) ? ownZone : "");
  const namedZone = timeZone(zoneName || UTC.name);
  const zone = namedZone ?? UTC;
  const compare = isOfAll ? query.compare : "none";
  const days = isCustom ? { from: query.from, to: query.to } : NO_DAYS;
  const compared = compare === "custom" ? { from: query.compare_from, to: query.compare_to } : NO_DAYS;
  const own = periodOf(days, zone, now.getTime());
  const other = periodOf(compared, zone, now.getTime());
  const named = choice === "custom" ? undefined : NAMED[choice];
  const from = named ? startBack(zone, named.first[0], now.getTime(), named.first[1]) : own.from;
  const intervals = intervalsOf(from, own.to ?? now.getTime(), named?.interval);
  const interval = intervals.find((name) => name === query.interval) ?? named?.interval;
  const errors = {
    ...own.errors,
    ...(namedZone ? {} : { timezone: noTimeZone(zoneName) }),
  };
  return {
    choice,
    typed: {
      ...{ range: choice, ...days },
      timezone: (namedZone || isCustom) && zoneName ? zoneName : zone.name,
      ...{ interval: query.interval, compare: isOfAll ? compare : undefined },
      ...{ compare_from: compared.from, compare_to: compared.to },
    },
    errors: {
      ...errors,
      ...Object.fromEntries(Object.entries(other.errors).map(([name, why]) => [`compare_${name}`, why])),
    },
    zone,
    includesNow: own.to === undefined || own.to > now.getTime(),
    name: named?.title ?? customName(days),
    intervals,
    request:
      Object.keys(errors).length > 0
        ? undefined
        : { from, to: own.to, interval, compare: comparedWith(compare, from, other) },
  };
}

/** A first and a last one, as they are typed; empty for none. */
type Days = Record<keyof Period, string>;
const NO_DAYS: Days = { from: "", to: "" };

type TypedPeriod = { [P in keyof Period]: number | undefined } & { errors: Partial<Days> };

/** In milliseconds; undefined for what is empty or can't be read. */
function periodOf(days: Days, zone: TimeZone, now: number): TypedPeriod {
  const last = parseDate(days.to);
  const from = parseDate(days.from) === undefined ? undefined : timeOf(days.from, zone, "from");
  const to = last === undefined ? undefined : instantOf(zone, last + DAY_MS, "start");
  const errors = {
    ...(from !== undefined && from >= now && { from: "This is still to come." }),
    ...(from !== undefined && to !== undefined && from >= to && { to: "This is before the first day." }),
    ...(from === undefined && days.from !== "" && { from: NO_DATE }),
    ...(to === undefined && days.to !== "" && { to: NO_DATE }),
  };
  return { from, to, errors };
}
const NO_DATE = "This is no date. Choose one, such as 2026-11-01.";

function comparedWith(
  wanted: RangeQuery["compare"],
  from: number | undefined,
  { from: start, to: end, errors }: TypedPeriod,
): RangeRequest["compare"] {
  if (wanted !== "custom")
    return from === undefined || wanted === "none" ? undefined : (wanted ?? "previous");
  const isReadable = start !== undefined && end !== undefined && Object.keys(errors).length === 0;
  return isReadable ? { from: start, to: end } : undefined;
}

/** Of more than one point, and of no more than can be told apart. */
function intervalsOf(from: number | undefined, to: number, usual: Interval | undefined): Interval[] {
  if (from === undefined) return [];
  return INTERVALS.filter((name) => {
    const points = (to - from) / LENGTHS[name];
    return name === usual || (points > 1 && points <= MOST_FITTING_POINTS);
  });
}

const dates = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });

function customName(days: Days): string {
  const [from, to] = [days.from, days.to].map((day) => {
    const date = parseDate(day);
    return date === undefined ? undefined : dates.format(date);
  });
  if (from && to) return from === to ? from : `${from} to ${to}`;
  return from ? `since ${from}` : to ? `until ${to}` : "all time";
}
