// Adds up the days of an answer: its totals, the points of its series and the rows of its groups. As no visitor is known again
// on another UTC day, visitors of days add up, too: to null where those of a day aren't known.
import { CLICK_KINDS, type ClickKind } from "../../../events/vocabulary.ts";
import { VALUE_MEMBERS, type ValueCounts } from "../../../projections/definitions/summaries/account-day.ts";
import { CUT, largest, type Value } from "../../../projections/definitions/summaries/tally.ts";
import type { Group, GroupRow, Point, Totals } from "../question.ts";
import type { Counted, CountedBy, DayCounts, KindCounts } from "./count-rows.ts";

/** `visitors`: of several days; null where those of one aren't known. */
type Summed = KindCounts & { visitors: number | null };

export function noHits(): KindCounts {
  return { click: 0, preview: 0, qr_scan: 0 };
}

export function nothing(): Counted {
  return { ...noHits(), visitors: 0 };
}

function totalsOf({ click, preview, qr_scan, visitors }: Summed): Totals {
  return { click, preview, qr_scan, people: click + qr_scan, visitors };
}

/** Of a UTC day with visitors, YYYY-MM-DD. */
export type DayVisitors = { day: string; visitors: number };

/** When the day begins, in milliseconds; `date`: YYYY-MM-DD. */
export function midnightOf(date: string): number {
  return Date.parse(`${date}T00:00:00.000Z`);
}

export type DaysSum = ReturnType<typeof sumOfDays>;

/**
 * Points that begin at `starts`, each with what its own time would be answered with: who came in two parts of a UTC day counts in the
 * points of both. `visitorKinds`: of the hits whose visitors are counted.
 */
export function sumOfDays({ starts, groupBy, visitorKinds }: SummedQuestion) {
  const total: Summed = nothing();
  const points: Summed[] = starts.map(nothing);
  const groups = new Map(groupBy.map((field) => [field, new Map<Value, Summed>()]));
  const days: DayVisitors[] = [];
  /** Where one of them has no visitor's code, such as clicks that were imported without addresses, it isn't known. */
  const addVisitors = (sum: Summed, visitors: number, hits: KindCounts) => {
    const isKnown = visitors > 0 || visitorKinds.every((kind) => hits[kind] === 0);
    sum.visitors = sum.visitors === null || !isKnown ? null : sum.visitors + visitors;
  };
  const addValues = (field: CountedBy, values: ValueCounts) => {
    const rows = groups.get(field) as Map<Value, Summed>;
    const hits = noHits();
    for (let n = 0; n < values.length; n += VALUE_MEMBERS) {
      const value = values[n] as Value;
      let row = rows.get(value);
      if (!row) {
        row = nothing();
        rows.set(value, row);
      }
      hits.click = values[n + 1] as number;
      hits.preview = values[n + 2] as number;
      hits.qr_scan = values[n + 3] as number;
      addHits(row, hits);
      addVisitors(row, values[n + 4] as number, hits);
    }
  };
  return {
    /** How many values all groups have. */
    get size(): number {
      return groups.values().reduce((sum, { size }) => sum + size, 0);
    },
    /** Days come in their order, each once. `firstPoint`: the index of the day's first start. */
    add({ day, total: ofDay, points: ofPoints, groups: ofGroups }: DayCounts, firstPoint: number): void {
      addHits(total, ofDay);
      addVisitors(total, ofDay.visitors, ofDay);
      if (ofDay.visitors > 0) days.push({ day, visitors: ofDay.visitors });
      for (const [index, counted] of ofPoints) {
        const point = points[firstPoint + index] as Summed;
        addHits(point, counted);
        addVisitors(point, counted.visitors, counted);
      }
      for (const [field, values] of ofGroups) addValues(field, values);
    },
    /** Of a group of a day that is not in its counts. */
    addValues,
    totals: () => totalsOf(total),
    days: () => days,
    series: (): Point[] => points.map((point, n) => ({ start: starts[n] as number, ...totalsOf(point) })),
    group: (field: CountedBy, limit: number): Group =>
      groupOf(groups.get(field) ?? new Map(), field === "weekday_hour" ? Number.POSITIVE_INFINITY : limit),
  };
}

type SummedQuestion = {
  starts: readonly number[];
  groupBy: readonly CountedBy[];
  visitorKinds: readonly ClickKind[];
};

/** In place. */
function addHits(sum: KindCounts, added: Readonly<KindCounts>): void {
  for (const kind of CLICK_KINDS) sum[kind] += added[kind];
}

function groupOf(values: ReadonlyMap<Value, Summed>, limit: number): Group {
  const named = [...values].filter((row): row is [string, Summed] => row[0] !== CUT);
  const ranked = largest(named, limit, byPeople);
  const other = noHits();
  for (const counted of values.values()) addHits(other, counted);
  for (const [, counted] of ranked) for (const kind of CLICK_KINDS) other[kind] -= counted[kind];
  return {
    rows: ranked.map(([value, counted]): GroupRow => ({ value, ...totalsOf(counted) })),
    // Who is counted in several of them isn't known.
    other: values.size > ranked.length ? totalsOf({ ...other, visitors: null }) : undefined,
  };
}

function byPeople([value, a]: [string, Summed], [other, b]: [string, Summed]): number {
  const people = b.click + b.qr_scan - a.click - a.qr_scan;
  return people || b.preview - a.preview || (value < other ? -1 : 1);
}
