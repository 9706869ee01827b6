// Builds zero-filled time series by hour, day or month from day documents, for analytics answers and charts.
import { CLICK_KINDS } from "../../events/vocabulary.ts";
import { type DayDocument, dateOf, type QuarterHour } from "../../projections/definitions/days/days.ts";
import { utcDate } from "../../runtime/moment.ts";
import { addHits, type HitCounts, hitCounts } from "./hit-counts.ts";

/** Each range ends with the current hour, day or month. */
export const RANGES = ["24h", "7d", "30d", "12mo"] as const;
export type Range = (typeof RANGES)[number];

/** `start`: start of the hour, day or month, ISO 8601 UTC. */
export type Point = HitCounts & { start: string };

export type TimeSeries = { range: Range; unit: "hour" | "day" | "month"; points: Point[] };

const UNITS = { "24h": "hour", "7d": "day", "30d": "day", "12mo": "month" } as const;
const LENGTHS = { "24h": 24, "7d": 7, "30d": 30, "12mo": 12 } as const;
/** Length of the ISO prefix that identifies an hour, day or month. */
const PREFIX_LENGTH = { hour: 13, day: 10, month: 7 } as const;
const ISO_SUFFIX = "0000-01-01T00:00:00.000Z";

/** Days (YYYY-MM-DD) of the documents that a series needs, oldest first; at most 366. */
export function daysIn(range: Range, now: Date): string[] {
  const [first = ""] = starts(range, now);
  const days: string[] = [];
  const day = new Date(`${first.slice(0, 10)}T00:00:00.000Z`);
  for (; day <= now; day.setUTCDate(day.getUTCDate() + 1)) days.push(utcDate(day));
  return days;
}

/** Days without a document count as zeros; days outside the range are ignored. */
export function timeSeries(range: Range, now: Date, days: Iterable<DayDocument>): TimeSeries {
  const unit = UNITS[range];
  const points = new Map(
    starts(range, now).map((start) => [start.slice(0, PREFIX_LENGTH[unit]), { start, ...hitCounts() }]),
  );
  for (const day of days) {
    for (const quarterHour of day.quarters) {
      const point = points.get(hourOf(day, quarterHour).slice(0, PREFIX_LENGTH[unit]));
      if (point) addHits(point, quarterHour, CLICK_KINDS);
    }
  }
  return { range, unit, points: [...points.values()] };
}

function starts(range: Range, now: Date): string[] {
  const unit = UNITS[range];
  const current = now.toISOString().slice(0, PREFIX_LENGTH[unit]);
  const start = new Date(current + ISO_SUFFIX.slice(current.length));
  return Array.from({ length: LENGTHS[range] }, (_, index) => {
    const back = LENGTHS[range] - 1 - index;
    const one = new Date(start);
    if (unit === "month") one.setUTCMonth(one.getUTCMonth() - back);
    else one.setTime(one.getTime() - back * (unit === "hour" ? 3_600_000 : 86_400_000));
    return one.toISOString();
  });
}

/** YYYY-MM-DDTHH */
function hourOf(day: DayDocument, [quarter]: QuarterHour): string {
  return `${dateOf(day)}T${String(Math.floor(quarter / 4)).padStart(2, "0")}`;
}
