// What a question leaves open: its range, the points of it, and the period before.
import { noTimeZone } from "../../runtime/moment.ts";
import { Refused } from "../../runtime/refused.ts";
import { localTime } from "./counting/group-values.ts";
import { type Interval, pointsOf, startOfDay } from "./intervals.ts";
import type { AccountQuestion } from "./question.ts";
import { DAY_MS, instantOf, type TimeZone, timeZone } from "./time-zone.ts";

export type Period = { from: number; to: number };

/** `hitsUntil`: as `to`, but without end where none was asked for, as clocks of writers differ. */
export type Resolved = Period & {
  hitsUntil: number;
  zone: TimeZone;
  interval: Interval;
  starts: number[];
  previous: Period | undefined;
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
  const zone = zoneOf(question.zone);
  const to = question.to ?? end;
  const from = question.from ?? startOfDay(zone, (await first(to)) ?? to - 1);
  const { interval, starts } = pointsOf({ zone, interval: question.interval }, { from, to });
  const hitsUntil = question.to ?? Number.POSITIVE_INFINITY;
  const previous = question.compare && previousOf(zone, from, to);
  return { from, to, hitsUntil, zone, interval, starts, previous };
}

/** @throws invalid_range */
export function zoneOf(name: string): TimeZone {
  const zone = timeZone(name);
  if (!zone) throw new Refused("invalid_range", noTimeZone(name));
  return zone;
}

/** The same hours of the zone's clocks, as many whole days before as the range is long: what lies between is in neither. */
function previousOf(zone: TimeZone, from: number, to: number): Period {
  const [start, end] = [localTime(zone, from), localTime(zone, to)];
  const shift = Math.max(1, Math.ceil((end - start) / DAY_MS)) * DAY_MS;
  const previous = instantOf(zone, start - shift, "start");
  const until = instantOf(zone, end - shift, "start");
  // Where clocks are set back within the range, or forth over all of the one before.
  return { from: previous, to: until > previous ? until : Math.min(previous + (to - from), from) };
}
