// Adds up the days of an answer: its totals, the points of its series and the rows of its groups. As no visitor is known again
// on another UTC day, visitors of days add up, too: to null where those of a day aren't known.
import { CLICK_KINDS } from "../../../events/vocabulary.ts";
import { CUT, type Value } from "../../../projections/definitions/summaries/tally.ts";
import type { Interval } from "../intervals.ts";
import type { Group, GroupRow, Point, Totals } from "../question.ts";
import { DAY_MS } from "../time-zone.ts";
import { type Counted, type CountedBy, type DayCounts, type KindCounts, placeOf } from "./count-rows.ts";

export function noHits(): KindCounts {
  return { click: 0, preview: 0, qr_scan: 0 };
}

export function nothing(): Counted {
  return { ...noHits(), visitors: 0, estimated: false };
}

/** In place. */
function add(sum: Counted, added: Readonly<Counted>): void {
  for (const kind of CLICK_KINDS) sum[kind] += added[kind];
  addVisitors(sum, added);
}

function addVisitors(sum: Counted, { visitors, estimated }: Readonly<Counted>): void {
  sum.visitors = sum.visitors === null || visitors === null ? null : sum.visitors + visitors;
  sum.estimated ||= estimated;
}

function totalsOf({ click, preview, qr_scan, visitors, estimated }: Counted): Totals {
  return { click, preview, qr_scan, people: click + qr_scan, visitors, visitorsEstimated: estimated };
}

/** Of a UTC day with visitors, YYYY-MM-DD. */
export type DayVisitors = { day: string; visitors: number; estimated: boolean };

/** When the day begins, in milliseconds; `date`: YYYY-MM-DD. */
export function midnightOf(date: string): number {
  return Date.parse(`${date}T00:00:00.000Z`);
}

export type DaysSum = ReturnType<typeof sumOfDays>;

/**
 * Points that begin at `starts`: by the hour with the visitors of each; else those of a UTC day count in the point in which its
 * middle lies, so that points add up to the total.
 */
export function sumOfDays({ starts, interval, groupBy }: SummedQuestion) {
  const total = nothing();
  const points = starts.map(nothing);
  const groups = new Map(groupBy.map((field) => [field, new Map<Value, Counted>()]));
  const days: DayVisitors[] = [];
  return {
    /** How many values all groups have. */
    get size(): number {
      return groups.values().reduce((sum, { size }) => sum + size, 0);
    },
    /** Days come in their order, each once. `firstPoint`: the index of the day's first start. */
    add({ day, total: ofDay, points: ofPoints, groups: ofGroups }: DayCounts, firstPoint: number): void {
      add(total, ofDay);
      const { visitors, estimated } = ofDay;
      if (visitors) days.push({ day, visitors, estimated });
      for (const [index, counted] of ofPoints) {
        const point = points[firstPoint + index] as Counted;
        for (const kind of CLICK_KINDS) point[kind] += counted[kind];
        if (interval === "hour") addVisitors(point, counted);
      }
      const middle = interval === "hour" ? undefined : points[placeOf(starts, midnightOf(day) + DAY_MS / 2)];
      if (middle) addVisitors(middle, ofDay);
      for (const [field, values] of ofGroups) {
        const rows = groups.get(field) as Map<Value, Counted>;
        for (const [value, counted] of values) {
          const row = rows.get(value);
          if (row) add(row, counted);
          else rows.set(value, { ...counted });
        }
      }
    },
    totals: () => totalsOf(total),
    days: () => days,
    series: (): Point[] => points.map((point, n) => ({ start: starts[n] as number, ...totalsOf(point) })),
    group: (field: CountedBy, limit: number): Group => groupOf(groups.get(field) ?? new Map(), limit),
  };
}

type SummedQuestion = {
  starts: readonly number[];
  interval: Interval;
  groupBy: readonly CountedBy[];
};

function groupOf(values: ReadonlyMap<Value, Counted>, limit: number): Group {
  const ranked = [...values].filter((row): row is [string, Counted] => row[0] !== CUT).sort(byPeople);
  const cut = values.get(CUT);
  const rest = [...ranked.splice(limit).map(([, counted]) => counted), ...(cut ? [cut] : [])];
  const other = nothing();
  for (const counted of rest) add(other, counted);
  return {
    rows: ranked.map(([value, counted]): GroupRow => ({ value, ...totalsOf(counted) })),
    // Who is counted in several of them isn't known.
    other: rest.length > 0 ? { ...totalsOf(other), visitors: null, visitorsEstimated: false } : undefined,
  };
}

function byPeople([value, a]: [string, Counted], [other, b]: [string, Counted]): number {
  const people = b.click + b.qr_scan - a.click - a.qr_scan;
  return people || b.preview - a.preview || (value < other ? -1 : 1);
}
