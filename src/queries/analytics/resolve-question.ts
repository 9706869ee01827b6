// What a question leaves open: its range, the points of it, and the period before.

import { localTime } from "./counting/group-values.ts";
import { type Interval, pointsOf, startOfDay } from "./intervals.ts";
import type { AccountQuestion, Comparison, Period } from "./question.ts";
import { DAY_MS, instantOf, type TimeZone, zoneNamed } from "./time-zone.ts";

/** `hitsUntil`: as `to`, but without end where none was asked for, as clocks of writers differ. */
type Resolved = Period & {
  hitsUntil: number;
  zone: TimeZone;
  interval: Interval;
  starts: number[];
  previous: (Period & { starts: number[] }) | undefined;
};

/**
 * `end`: of a range without `to`. `first`: when the first hit was, for a range without `from`; undefined for none.
 * @throws invalid_range, what `first` throws
 */
export async function resolveQuestion(
  question: Pick<AccountQuestion, "zone" | "from" | "to" | "interval" | "compare">,
  end: number,
  first: (to: number) => Promise<number | undefined>,
): Promise<Resolved> {
  const zone = zoneNamed(question.zone);
  const to = question.to ?? end;
  const from = question.from ?? startOfDay(zone, (await first(to)) ?? to - 1);
  const { interval, starts } = pointsOf({ zone, interval: question.interval }, { from, to });
  const hitsUntil = question.to ?? Number.POSITIVE_INFINITY;
  const { compare } = question;
  const before = typeof compare === "string" ? shifted(zone, { from, to }, compare) : compare;
  const previous = before && { ...before, starts: pointsOf({ zone, interval }, before).starts };
  return { from, to, hitsUntil, zone, interval, starts, previous };
}

/** The same hours of the zone's clocks, so many whole days, or months, before: of `previous` as many as the range is long. */
function shifted(zone: TimeZone, { from, to }: Period, comparison: Comparison): Period {
  const [start, end] = [localTime(zone, from), localTime(zone, to)];
  const before = (local: number) => {
    if (comparison === "week") return local - 7 * DAY_MS;
    if (comparison === "previous") return local - Math.max(1, Math.ceil((end - start) / DAY_MS)) * DAY_MS;
    return monthsBefore(local, comparison === "month" ? 1 : 12);
  };
  const previous = instantOf(zone, before(start), "start");
  const until = instantOf(zone, before(end), "start");
  // Where clocks are set back within the range, or forth over all of the one before; or a month has fewer days.
  return { from: previous, to: until > previous ? until : Math.min(previous + (to - from), from) };
}

/** The same time of the same day of the month, or of its last one. */
function monthsBefore(local: number, months: number): number {
  const date = new Date(local);
  const day = date.getUTCDate();
  const first = new Date(local).setUTCMonth(date.getUTCMonth() - months, 1);
  const next = new Date(first).setUTCMonth(new Date(first).getUTCMonth() + 1, 1);
  return Math.min(first + (day - 1) * DAY_MS, next - DAY_MS);
}
