// Cuts a range of time into the hours, days, weeks or months of a time zone.
import { Refused } from "../../commands/refusals.ts";
import { DAY_MS, HOUR_MS, instantOf, type TimeZone } from "./time-zone.ts";

/** Weeks begin on Monday. */
export const INTERVALS = ["hour", "day", "week", "month"] as const;
export type Interval = (typeof INTERVALS)[number];

/** 1970-01-01 was a Thursday. */
const MONDAY_OFFSET_DAYS = 3;

/** Points of a range whose interval is chosen to fit, and of any other. */
export const MOST_FITTING_POINTS = 400;
export const MOST_POINTS = 5_000;

/**
 * The points of [from, to), in milliseconds, by the interval that is asked for or fits: `from`, then each start of an
 * interval after it. @throws invalid_range for none, and for too many
 */
export function pointsOf(
  { zone, interval: wanted }: { zone: TimeZone; interval: Interval | undefined },
  { from, to }: { from: number; to: number },
): { interval: Interval; starts: number[] } {
  if (from >= to)
    throw new Refused("invalid_range", "from must be before to; without to, before now or as_of");
  const interval = wanted ?? fittingInterval(to - from);
  const most = wanted ? MOST_POINTS : MOST_FITTING_POINTS;
  const starts: number[] = [];
  for (let start = from; start < to; start = nextStart(zone, interval, start)) {
    if (starts.length === most)
      throw new Refused(
        "invalid_range",
        `The range has more than ${most} points: choose a longer interval, or a shorter range`,
      );
    starts.push(start);
  }
  return { interval, starts };
}

/** The shortest interval of which a range has at most 400 points, but hours for a week at most; months for 33 years. */
function fittingInterval(length: number): Interval {
  const days = length / DAY_MS;
  if (days <= 8) return "hour";
  if (days <= 367) return "day";
  return days <= 5 * 367 ? "week" : "month";
}

/** The start of the hour, day or month that lies `back` of them before the one of the instant. */
export function startBack(
  zone: TimeZone,
  interval: "hour" | "day" | "month",
  instant: number,
  back: number,
): number {
  const local = instant + zone.offsetAt(instant);
  if (interval === "hour") return instant - (local % HOUR_MS) - back * HOUR_MS;
  return instantOf(zone, midnight(interval, local, -back), "start");
}

/** The start of the day that the instant lies in. */
export function startOfDay(zone: TimeZone, instant: number): number {
  return startBack(zone, "day", instant, 0);
}

/** The first start of an interval after the instant. */
function nextStart(zone: TimeZone, interval: Interval, instant: number): number {
  if (interval === "hour") return nextHour(zone, instant);
  const local = instant + zone.offsetAt(instant);
  // A day that a zone left out, when the date line was moved, begins and ends at the same instant.
  for (let next = midnight(interval, local, 1); ; next = midnight(interval, next, 1)) {
    const start = instantOf(zone, next, "start");
    if (start > instant) return start;
  }
}

/** The next full local hour; or the next change of the offset, as the hour that is repeated is another hour. */
function nextHour(zone: TimeZone, instant: number): number {
  const offset = zone.offsetAt(instant);
  const next = (Math.floor((instant + offset) / HOUR_MS) + 1) * HOUR_MS - offset;
  return zone.changeIn(instant, next) ?? next;
}

/** The local midnight that begins a day, a week or a month: the one of the local time, or so many after it. */
function midnight(interval: Exclude<Interval, "hour">, local: number, after: number): number {
  const day = Math.floor(local / DAY_MS);
  if (interval === "day") return (day + after) * DAY_MS;
  if (interval === "week")
    return ((Math.floor((day + MONDAY_OFFSET_DAYS) / 7) + after) * 7 - MONDAY_OFFSET_DAYS) * DAY_MS;
  // Not Date.UTC, which takes the years 0 to 99 for 1900 to 1999.
  const date = new Date(day * DAY_MS);
  return date.setUTCMonth(date.getUTCMonth() + after, 1);
}
