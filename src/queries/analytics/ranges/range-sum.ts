// Adds up the days of a link within a range: series, totals, breakdowns and daily visitors.
import { CLICK_KINDS, type ClickKind, UTM_FIELDS, type UtmField } from "../../../events/vocabulary.ts";
import { DIMENSIONS, type Dimension } from "../../../projections/definitions/click-dimensions.ts";
import { countVisitors } from "../../../projections/definitions/days/visitors.ts";
import {
  byCountThenName,
  OTHER,
  type Tally,
  type ValueCount,
} from "../../../projections/definitions/tally.ts";
import type { DayNumbers } from "./day-parts.ts";
import { QUARTER_MS } from "./time-zone.ts";

export type KindCounts = Record<ClickKind, number>;

/** `start`: milliseconds. */
export type SeriesPoint = KindCounts & { start: number; total: number };

/** Of a UTC day with visitors, YYYY-MM-DD, for which visitors have codes that tell them apart. */
export type DayVisitors = { day: string; visitors: number; estimated: boolean };

/** Breakdowns largest first, `other` last. */
export type RangeSum = {
  series: SeriesPoint[];
  totals: KindCounts & { total: number };
  breakdowns: Record<Dimension, ValueCount[]>;
  utm: Record<UtmField, ValueCount[]>;
  visitors: DayVisitors[];
};

/** Of a breakdown; the hits of the others are added to `other`. */
const MOST_VALUES = 200;

export function rangeSum(starts: readonly number[], kinds: readonly ClickKind[] = CLICK_KINDS) {
  const series = starts.map((start) => ({ start, click: 0, preview: 0, qr_scan: 0, total: 0 }));
  const breakdowns = mapOf(DIMENSIONS, () => new Map<string, number>());
  const utm = mapOf(UTM_FIELDS, () => new Map<string, number>());
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
      for (const { tallies, utm: tagged } of wanted) {
        for (const [n, dimension] of DIMENSIONS.entries()) addTally(breakdowns[dimension], tallies[n]);
        for (const field of UTM_FIELDS) addTally(utm[field], tagged?.[field]);
      }
      const counted = countVisitors(wanted.map((one) => one.visitors));
      if (counted.visitors > 0) visitors.push({ day, ...counted });
    },
    result(): RangeSum {
      const totals = { click: 0, preview: 0, qr_scan: 0, total: 0 };
      for (const point of series)
        for (const field of [...CLICK_KINDS, "total"] as const) totals[field] += point[field];
      return {
        ...{ series, totals, visitors },
        breakdowns: mapOf(DIMENSIONS, (name) => ranked(breakdowns[name])),
        utm: mapOf(UTM_FIELDS, (name) => ranked(utm[name])),
      };
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

function addTally(counts: Map<string, number>, tally: Tally = []): void {
  for (let n = 0; n < tally.length; n += 2) {
    const value = tally[n] as string;
    counts.set(value, (counts.get(value) ?? 0) + (tally[n + 1] as number));
  }
}

function ranked(counts: ReadonlyMap<string, number>): ValueCount[] {
  const named = [...counts].filter(([value]) => value !== OTHER);
  named.sort(byCountThenName);
  const rest = named.splice(MOST_VALUES).reduce((sum, [, count]) => sum + count, counts.get(OTHER) ?? 0);
  return rest > 0 ? [...named, [OTHER, rest]] : named;
}

function mapOf<K extends string, V>(keys: readonly K[], make: (key: K) => V): Record<K, V> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, V>;
}
