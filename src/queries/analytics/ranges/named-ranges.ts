// The ranges of time that pages name, each up to the present hour, day or month.
import { startBack } from "./buckets.ts";
import type { TimeZone } from "./time-zone.ts";

export const RANGES = ["24h", "7d", "30d", "12mo"] as const;
export type Range = (typeof RANGES)[number];

const POINTS = {
  "24h": ["hour", 24],
  "7d": ["day", 7],
  "30d": ["day", 30],
  "12mo": ["month", 12],
} as const;

/** Where the range begins, in milliseconds, and what its points are. */
export function namedRange(range: Range, zone: TimeZone, now: Date) {
  const [interval, points] = POINTS[range];
  return { interval, from: startBack(zone, interval, now.getTime(), points - 1) };
}
