// Adds up the days of a link within a range: series, totals, breakdowns and daily visitors.
import { CLICK_KINDS, type ClickKind } from "../../../events/vocabulary.ts";
import { countVisitors } from "../../../projections/definitions/days/visitors.ts";
import { type Breakdowns, breakdownSum } from "../breakdowns.ts";
import type { DayNumbers } from "./day-parts.ts";
import { QUARTER_MS } from "./time-zone.ts";

export type KindCounts = Record<ClickKind, number>;

/** `start`: milliseconds. */
export type SeriesPoint = KindCounts & { start: number; total: number };

/** Of a UTC day with visitors, YYYY-MM-DD, for which visitors have codes that tell them apart. */
export type DayVisitors = { day: string; visitors: number; estimated: boolean };

export type RangeSum = Breakdowns & {
  series: SeriesPoint[];
  totals: KindCounts & { total: number };
  visitors: DayVisitors[];
};

export function rangeSum(starts: readonly number[], kinds: readonly ClickKind[] = CLICK_KINDS) {
  const series = starts.map((start) => ({ start, click: 0, preview: 0, qr_scan: 0, total: 0 }));
  const sum = breakdownSum();
  const visitors: DayVisitors[] = [];
  return {
    /** `day`: YYYY-MM-DD; days come in order. All hits of the numbers are within the range. */
    add(day: string, { quarters, kinds: ofKinds }: DayNumbers): void {
      const midnight = Date.parse(`${day}T00:00:00.000Z`);
      for (const [quarter, ...hits] of quarters) {
        const point = pointAt(series, midnight + quarter * QUARTER_MS);
        for (const kind of kinds) {
          const count = hits[CLICK_KINDS.indexOf(kind)] ?? 0;
          point[kind] += count;
          point.total += count;
        }
      }
      const wanted = kinds.flatMap((kind) => ofKinds[kind] ?? []);
      for (const kind of wanted) sum.add(kind);
      const counted = countVisitors(wanted.map((one) => one.visitors));
      if (counted.visitors > 0) visitors.push({ day, ...counted });
    },
    result(): RangeSum {
      const totals = { click: 0, preview: 0, qr_scan: 0, total: 0 };
      for (const point of series)
        for (const field of [...CLICK_KINDS, "total"] as const) totals[field] += point[field];
      return { series, totals, visitors, ...sum.result() };
    },
  };
}

/** The last point that starts at or before the instant; the first one for a quarter-hour that the range cuts. */
function pointAt(series: readonly SeriesPoint[], instant: number): SeriesPoint {
  let [low, high] = [0, series.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((series[middle] as SeriesPoint).start <= instant) low = middle;
    else high = middle - 1;
  }
  return series[low] as SeriesPoint;
}
