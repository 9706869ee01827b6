// Adds up the clicks of an answer: its totals, the points of its series and the rows of its groups, with visitors.
import { CLICK_KINDS, type ClickKind, PEOPLE_KINDS } from "../../../events/vocabulary.ts";
import { countVisitors, type Visitors, withVisitor } from "../../../projections/definitions/days/visitors.ts";
import { OTHER } from "../../../projections/definitions/tally.ts";
import type { Interval } from "../intervals.ts";
import { midnightOf } from "../sums.ts";
import { DAY_MS } from "../time-zone.ts";
import type { Group, GroupRow, Point, Totals } from "./question.ts";

export type KindCounts = Record<ClickKind, number>;

/** Of clicks and QR scans; null for visitors that aren't known. */
type VisitorCount = { visitors: number; estimated: boolean } | null;

export function noHits(): KindCounts {
  return { click: 0, preview: 0, qr_scan: 0 };
}

function addCounts(sum: KindCounts, added: Readonly<KindCounts>): void {
  for (const kind of CLICK_KINDS) sum[kind] += added[kind];
}

function peopleIn({ click, qr_scan }: Readonly<KindCounts>): number {
  return click + qr_scan;
}

export function isPeople(kind: ClickKind): boolean {
  return kind !== "preview";
}

export function totalsOf({ click, preview, qr_scan }: KindCounts, counted: VisitorCount): Totals {
  return {
    click,
    preview,
    qr_scan,
    people: peopleIn({ click, preview, qr_scan }),
    visitors: counted?.visitors ?? null,
    visitorsEstimated: counted?.estimated ?? false,
  };
}

/** Visitors by UTC day and kind, as documents keep them. */
export function visitorDays() {
  const days = new Map<string, { [K in ClickKind]?: { visitors: Visitors; hits: number } }>();
  return {
    /** `day`: YYYY-MM-DD; `code`: of LinkClicked, empty where it has none. */
    count(day: string, kind: ClickKind, code: string): void {
      const ofDay = days.get(day) ?? {};
      const { visitors = "", hits = 0 } = ofDay[kind] ?? {};
      ofDay[kind] = { visitors: withVisitor(visitors, code), hits: hits + 1 };
      days.set(day, ofDay);
    },
    /** Each day and kind comes once. */
    add(day: string, kind: ClickKind, visitors: Visitors, hits: number): void {
      days.set(day, { ...days.get(day), [kind]: { visitors, hits } });
    },
    byDay: () =>
      [...days].map(([day, ofDay]) => {
        const people = PEOPLE_KINDS.flatMap((kind) => ofDay[kind] ?? []);
        const hits = people.reduce((sum, counted) => sum + counted.hits, 0);
        const counted = countVisitors(
          people.map(({ visitors }) => visitors),
          hits,
        );
        // Such as of clicks that were imported without addresses.
        return { day, ...counted, isKnown: hits === 0 || counted.visitors > 0 };
      }),
  };
}

export type VisitorDays = ReturnType<typeof visitorDays>;

/** Of days, of which no visitor is known again on another; null where those of a day aren't known. */
export function visitorsOf(days: VisitorDays): VisitorCount {
  let sum = { visitors: 0, estimated: false };
  for (const { visitors, estimated, isKnown } of days.byDay()) {
    if (!isKnown) return null;
    sum = { visitors: sum.visitors + visitors, estimated: sum.estimated || estimated };
  }
  return sum;
}

/**
 * Points that begin at `starts`. `hourly`: visitors of each hour, where they are known. Others of a UTC day count in the point
 * in which the middle of the day lies, so that points add up to the total.
 */
export function seriesOf(starts: readonly number[], interval: Interval) {
  const points = starts.map((start) => ({ start, counts: noHits(), visitors: "" as Visitors }));
  return {
    count(instant: number, kind: ClickKind, hits: number): void {
      const point = points[placeOf(starts, instant)];
      if (point) point.counts[kind] += hits;
    },
    countVisitor(instant: number, code: string): void {
      const point = points[placeOf(starts, instant)];
      if (point && interval === "hour") point.visitors = withVisitor(point.visitors, code);
    },
    result(days: VisitorDays, knowsHours: boolean): Point[] {
      if (interval === "hour")
        return points.map(({ start, counts, visitors }) => ({
          start,
          ...totalsOf(counts, knowsHours ? countVisitors([visitors], peopleIn(counts)) : null),
        }));
      const withVisitors = points.map(({ start, counts }) => ({
        start,
        ...totalsOf(counts, { visitors: 0, estimated: false }),
      }));
      for (const { day, visitors, estimated, isKnown } of days.byDay()) {
        const point = withVisitors[placeOf(starts, midnightOf(day) + DAY_MS / 2)];
        if (!point) continue;
        point.visitors = point.visitors === null || !isKnown ? null : point.visitors + visitors;
        point.visitorsEstimated ||= estimated;
      }
      return withVisitors;
    },
  };
}

/** The last point that starts at or before the instant; the first one for an instant before it. */
function placeOf(starts: readonly number[], instant: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] as number) <= instant) low = middle;
    else high = middle - 1;
  }
  return low;
}

type Row = { counts: KindCounts; visitors: Visitors };

/** Rows of one group, by their value. */
export function groupSum() {
  const rows = new Map<string, Row>();
  const rowOf = (value: string) => {
    const row = rows.get(value) ?? { counts: noHits(), visitors: "" };
    rows.set(value, row);
    return row;
  };
  return {
    get size() {
      return rows.size;
    },
    count(value: string, kind: ClickKind, hits: number): void {
      if (hits > 0) rowOf(value).counts[kind] += hits;
    },
    countVisitor(value: string, code: string): void {
      const row = rowOf(value);
      row.visitors = withVisitor(row.visitors, code);
    },
    /** `knowsVisitors`: whether they were counted. What documents have counted as others is among `other`. */
    result(limit: number, knowsVisitors: boolean): Group {
      const named = [...rows].filter(([value]) => value !== OTHER);
      named.sort(byPeople);
      const others = [
        ...named.splice(limit).map(([, { counts }]) => counts),
        ...(rows.get(OTHER) ? [(rows.get(OTHER) as Row).counts] : []),
      ];
      const other = noHits();
      for (const counts of others) addCounts(other, counts);
      return {
        rows: named.map(
          ([value, { counts, visitors }]): GroupRow => ({
            value,
            ...totalsOf(counts, knowsVisitors ? countVisitors([visitors], peopleIn(counts)) : null),
          }),
        ),
        other: others.length > 0 ? totalsOf(other, null) : undefined,
      };
    },
  };
}

function byPeople([value, { counts: a }]: [string, Row], [other, { counts: b }]: [string, Row]): number {
  const people = b.click + b.qr_scan - a.click - a.qr_scan;
  return people || b.preview - a.preview || (value < other ? -1 : 1);
}
