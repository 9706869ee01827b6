// The range of time that a page of analytics shows, read from its address. More than 24 hours needs the Developer tier.

import { z } from "zod";
import { hasDeveloperFeatures, type Tier } from "../../events/vocabulary.ts";
import { type Interval, startBack } from "../../queries/analytics/intervals.ts";
import { timeOf } from "../../queries/analytics/range.ts";
import { DAY_MS, instantOf, type TimeZone, timeZone, UTC } from "../../queries/analytics/time-zone.ts";
import { type LocalMoment, noTimeZone, parseLocalMoment } from "../../runtime/moment.ts";
import { cutText } from "../../runtime/text/cut-text.ts";

/** Each up to now, from the start of its first hour, day or month; with points of `interval`. */
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

export const DATE = /^\d{4}-\d\d-\d\d$/;
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
});
type RangeQuery = z.output<typeof RangeQuery>;
type Days = Pick<RangeQuery, "from" | "to" | "timezone">;

/** [from, to) in milliseconds; `to`: undefined for now. `interval`: undefined for one that fits. */
export type RangeRequest = {
  from: number | undefined;
  to: number | undefined;
  interval: Interval | undefined;
};

/**
 * `typed`: as it stands in the address and the form. `request`: undefined when a field can't be read. `includesNow`: later
 * clicks will be in it. `name`: such as `last 7 days`.
 */
export type PageRange = {
  choice: Range | "custom";
  typed: Days & { range: Range | "custom" };
  errors: Partial<Days>;
  zone: TimeZone;
  request: RangeRequest | undefined;
  includesNow: boolean;
  name: string;
};

/** Those that somebody can choose, with their names. */
export function rangesFor(tier: Tier): { range: Range; name: string }[] {
  const hidden = hasDeveloperFeatures(tier) ? "24h" : "today";
  return RANGES.filter((range) => range !== hidden).map((range) => ({ range, name: NAMED[range].name }));
}

/** The range that the query asks for if the tier allows it, else the last 24 hours. `ownZone`: where the query has none. */
export function pageRange(query: RangeQuery, tier: Tier, now: Date, ownZone = ""): PageRange {
  const { range, from, to, timezone } = query;
  const days = { from, to, timezone: timezone || (timeZone(ownZone) ? ownZone : "") };
  if (!hasDeveloperFeatures(tier)) return named("24h", days.timezone, now);
  const isCustom = range === "custom" || (!range && (from || to) !== "");
  return isCustom ? custom(days, now) : named(range ?? "7d", days.timezone, now);
}

function named(range: Range, wanted: string, now: Date): PageRange {
  const known = timeZone(wanted || UTC.name);
  const zone = known ?? UTC;
  const { interval, title, first } = NAMED[range];
  const from = startBack(zone, first[0], now.getTime(), first[1]);
  return {
    choice: range,
    typed: { range, from: "", to: "", timezone: zone.name },
    errors: known ? {} : { timezone: noTimeZone(wanted) },
    zone,
    includesNow: true,
    name: title,
    request: known && { from, to: undefined, interval },
  };
}

const STILL_TO_COME = "This is still to come.";

/** Of whole days. */
function custom(days: Days, now: Date): PageRange {
  const errors: PageRange["errors"] = {};
  const read = <T>(
    name: keyof Days,
    parse: (text: string) => T | undefined,
    why: (text: string) => string,
  ) => {
    if (days[name] === "") return undefined;
    const value = parse(days[name]);
    if (value === undefined) errors[name] = why(days[name]);
    return value;
  };
  const noDate = () => "This is no date. Choose one, such as 2026-11-01.";
  const zone = read("timezone", timeZone, noTimeZone) ?? UTC;
  const first = read("from", dayOf, noDate);
  const last = read("to", dayOf, noDate);
  const from = first && timeOf(days.from, zone, "from");
  const to = last && instantOf(zone, last.local + DAY_MS, "start");
  if (from !== undefined && from >= now.getTime()) errors.from ??= STILL_TO_COME;
  if (from !== undefined && to !== undefined && from >= to) errors.to = "This is before the first day.";
  const isReadable = Object.keys(errors).length === 0;
  return {
    choice: "custom",
    typed: { range: "custom", ...days, timezone: days.timezone || zone.name },
    errors,
    zone,
    includesNow: to === undefined || to > now.getTime(),
    name: customName(first, last),
    request: isReadable ? { from, to, interval: undefined } : undefined,
  };
}

function dayOf(text: string): LocalMoment | undefined {
  return DATE.test(text) ? parseLocalMoment(text) : undefined;
}

const dates = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });

function customName(first: LocalMoment | undefined, last: LocalMoment | undefined): string {
  const [from, to] = [first, last].map((day) => day && dates.format(day.local));
  if (from && to) return from === to ? from : `${from} to ${to}`;
  return from ? `since ${from}` : to ? `until ${to}` : "all time";
}
