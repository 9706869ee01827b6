// Adds up the days of a link within a range: series, totals, breakdowns and daily visitors.
import { CLICK_KINDS, type ClickKind } from "../../../events/vocabulary.ts";
import type { QuarterHour } from "../../../projections/definitions/days/days.ts";
import { countVisitors } from "../../../projections/definitions/days/visitors.ts";
import { type Breakdowns, breakdownSum } from "../breakdowns.ts";
import { addHits, type HitCounts, hitCounts, sumOf } from "../hit-counts.ts";
import type { DayNumbers } from "./day-parts.ts";
import { QUARTER_MS } from "./time-zone.ts";

/** `start`: milliseconds. */
export type SeriesPoint = HitCounts & { start: number };

/** Of a UTC day with visitors, YYYY-MM-DD, for which visitors have codes that tell them apart. */
export type DayVisitors = { day: string; visitors: number; estimated: boolean };

export type RangeSum = Breakdowns & {
  series: SeriesPoint[];
  totals: HitCounts;
  /** Hits of other kinds. */
  leftOut: number;
  visitors: DayVisitors[];
};

/** The points of a range, which begin at `starts`, with the hits of these kinds. */
export function seriesSum(starts: readonly number[], kinds: readonly ClickKind[]) {
  const series = starts.map((start) => ({ start, ...hitCounts() }));
  return {
    series,
    /** `day`: YYYY-MM-DD. All of the quarter-hours are within the range. */
    add(day: string, quarters: readonly QuarterHour[]): void {
      const midnight = Date.parse(`${day}T00:00:00.000Z`);
      for (const quarter of quarters)
        addHits(pointAt(series, midnight + quarter[0] * QUARTER_MS), quarter, kinds);
    },
  };
}

export function rangeSum(starts: readonly number[], kinds: readonly ClickKind[]) {
  const { series, add: addToSeries } = seriesSum(starts, kinds);
  const sum = breakdownSum();
  const visitors: DayVisitors[] = [];
  const others = CLICK_KINDS.filter((kind) => !kinds.includes(kind));
  const leftOut = hitCounts();
  return {
    /** `day`: YYYY-MM-DD; days come in order. All hits of the numbers are within the range. */
    add(day: string, { quarters, kinds: ofKinds }: DayNumbers): void {
      addToSeries(day, quarters);
      for (const quarter of quarters) addHits(leftOut, quarter, others);
      const wanted = kinds.flatMap((kind) => ofKinds[kind] ?? []);
      for (const kind of wanted) sum.add(kind);
      const counted = countVisitors(wanted.map((one) => one.visitors));
      if (counted.visitors > 0) visitors.push({ day, ...counted });
    },
    result: (): RangeSum => ({
      series,
      totals: sumOf(series),
      leftOut: leftOut.total,
      visitors,
      ...sum.result(),
    }),
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
