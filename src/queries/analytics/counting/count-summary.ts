// Counts a closed day from its summary, where that has what is asked: as its table would, but that values which a bounded list has
// cut are told as CUT.
import { CLICK_KINDS, type ClickKind, PEOPLE_KINDS, UTM_FIELDS } from "../../../events/vocabulary.ts";
import {
  type AccountDayDocument,
  SUMMED_FIELDS,
  type SummedField,
  VALUE_MEMBERS,
  type ValueCounts,
} from "../../../projections/definitions/summaries/account-day.ts";
import { type Breakdown, DIMENSIONS } from "../../../projections/definitions/summaries/breakdown.ts";
import type {
  KindOfDay,
  LinkDayDocument,
  QuarterHour,
} from "../../../projections/definitions/summaries/day.ts";
import type { LinkLifeDocument } from "../../../projections/definitions/summaries/link-life.ts";
import {
  CUT,
  type Tally,
  type Value,
  valueCounts,
} from "../../../projections/definitions/summaries/tally.ts";
import { kindBits, visitorsWho } from "../../../projections/definitions/summaries/visitors.ts";
import type { Period } from "../question.ts";
import { DAY_MS, HOUR_MS, QUARTER_MS } from "../time-zone.ts";
import {
  type Counted,
  type CountedBy,
  type DayCounts,
  type DayQuestion,
  hitsIn,
  placeOf,
} from "./count-rows.ts";
import { isLocal, localValues } from "./group-values.ts";
import { midnightOf, nothing } from "./sum-days.ts";

const DIMENSION_COLUMNS: readonly CountedBy[] = Object.values(DIMENSIONS);
/** Rows of a group that are told from lists which may be cut; for more of them the tables are read. */
const MOST_ROWS_OF_CUT = 200;

type Summary = Pick<AccountDayDocument, "day" | "quarters" | "visitors"> & Partial<AccountDayDocument>;

/** Groups that the summary hasn't are missing; undefined where it hasn't the totals or the points. */
export function countAccountDay(summary: Summary, asked: DayQuestion): DayCounts | undefined {
  return countSummary(summary, asked, (field) => {
    const { values } = summary;
    if (!isWhole(asked) || asked.kinds.length < CLICK_KINDS.length || !isOfPeople(asked)) return undefined;
    if (!isSummedField(field)) return undefined;
    const list = values?.[field] ?? [];
    return asked.limit > MOST_ROWS_OF_CUT && list.includes(CUT) ? undefined : list;
  });
}

/** The same of a link; `summary`: undefined where it has no row. */
export function countLinkDay(
  day: string,
  summary: LinkDayDocument | undefined,
  asked: DayQuestion,
): DayCounts | undefined {
  const { hitsOnly, kinds } = asked;
  return countSummary(summary ?? { day, quarters: [], visitors: [] }, asked, (field) => {
    if (!summary) return [];
    if (!hitsOnly || !isWhole(asked)) return undefined;
    return tallyOf(field) && hitsByValue(field, kinds, summary.kinds);
  });
}

/** What is summed of a link's closed days together. */
export function countLife(life: LinkLifeDocument, groupBy: readonly CountedBy[]): DayCounts {
  const total = { ...nothing(), click: life.click, preview: life.preview, qr_scan: life.qr_scan };
  const groups = new Map(groupBy.map((field) => [field, hitsByValue(field, CLICK_KINDS, life.kinds)]));
  return { day: life.lastDay, total, points: new Map(), groups };
}

/** `valuesOf`: what the summary has of a field's values. */
function countSummary(
  summary: Summary,
  asked: DayQuestion,
  valuesOf: (field: CountedBy) => ValueCounts | undefined,
): DayCounts | undefined {
  const { starts, zone, groupBy, hitsOnly } = asked;
  const byTime = <K>(keyAt: (at: number) => K, hasVisitors: boolean) =>
    countByTime(summary, asked, keyAt, hasVisitors);
  const totals = isWhole(asked) ? new Map([[0, countAll(summary, asked)]]) : byTime(() => 0, true);
  if (!totals) return undefined;
  const total = totals.get(0) ?? nothing();
  const midnight = midnightOf(summary.day);
  const place = placeOf(starts, midnight);
  const isOnePoint = isWhole(asked) && place === placeOf(starts, midnight + DAY_MS - 1);
  const ofOne = () => new Map(starts.length > 0 && hitsIn(total) > 0 ? [[place, total]] : []);
  const points = isOnePoint || starts.length === 0 ? ofOne() : byTime((at) => placeOf(starts, at), !hitsOnly);
  if (!points) return undefined;
  const groups: DayCounts["groups"] = new Map();
  for (const field of groupBy) {
    const isTime = field !== "destination" && isLocal(field);
    const rows = isTime ? byTime(localValues(field, zone), !hitsOnly) : undefined;
    const values = isTime ? rows && listOf(rows) : valuesOf(field);
    if (values) groups.set(field, values);
  }
  return { day: summary.day, total, points, groups };
}

function isWhole({ from, to }: Period): boolean {
  return from === Number.NEGATIVE_INFINITY && to === Number.POSITIVE_INFINITY;
}

function countedKinds({ kinds, visitorKinds }: DayQuestion): ClickKind[] {
  return kinds.filter((kind) => visitorKinds.includes(kind));
}

/** Whether visitors are those that values and hours are summed with. */
function isOfPeople(asked: DayQuestion): boolean {
  return kindBits(countedKinds(asked)) === kindBits(PEOPLE_KINDS);
}

function countAll({ quarters, visitors }: Summary, asked: DayQuestion): Counted {
  const total = nothing();
  for (const quarter of quarters) addQuarter(total, quarter, asked.kinds);
  total.visitors = visitorsWho(visitors, kindBits(countedKinds(asked)));
  return total;
}

function addQuarter(sum: Counted, quarter: QuarterHour, kinds: readonly ClickKind[]): void {
  for (const kind of kinds) sum[kind] += quarter[(CLICK_KINDS.indexOf(kind) + 1) as 1 | 2 | 3];
}

/**
 * By the keys of instants; undefined where a quarter-hour with hits, or with visitors an hour, has several of them or is cut by the
 * range, or visitors aren't summed by the hour.
 */
function countByTime<K>(
  { day, quarters, visitors, hours }: Summary,
  asked: DayQuestion,
  keyAt: (at: number) => K,
  hasVisitors: boolean,
): Map<K, Counted> | undefined {
  const { from, to } = asked;
  const midnight = midnightOf(day);
  const rows = new Map<K, Counted>();
  const hoursOf = new Map<K, number>();
  const isCounted = hasVisitors && countedKinds(asked).length > 0;
  const people = visitorsWho(visitors, kindBits(PEOPLE_KINDS));
  if (isCounted && (!isOfPeople(asked) || !hours || (hours.length === 0 && people !== 0))) return undefined;
  for (const quarter of quarters) {
    const start = midnight + quarter[0] * QUARTER_MS;
    const hour = Math.floor((start - midnight) / HOUR_MS);
    const [first, length] = isCounted ? [midnight + hour * HOUR_MS, HOUR_MS] : [start, QUARTER_MS];
    const end = first + length;
    if (end <= from || first >= to) continue;
    const key = keyAt(first);
    if (first < from || end > to || key !== keyAt(end - 1)) return undefined;
    const row = rows.get(key) ?? nothing();
    rows.set(key, row);
    addQuarter(row, quarter, asked.kinds);
    hoursOf.set(key, (hoursOf.get(key) ?? 0) | (1 << hour));
  }
  if (isCounted)
    for (const [key, row] of rows) row.visitors = visitorsWho(hours ?? [], hoursOf.get(key) ?? 0);
  return rows;
}

function listOf(rows: ReadonlyMap<string, Counted>): ValueCounts {
  return [...rows].flatMap(([value, row]) =>
    hitsIn(row) > 0 ? [value, row.click, row.preview, row.qr_scan, row.visitors] : [],
  );
}

function isSummedField(field: CountedBy): field is SummedField {
  return (SUMMED_FIELDS as readonly CountedBy[]).includes(field);
}

/** The tally of a field; undefined for a field that has none. */
function tallyOf(field: CountedBy): ((counted: Partial<KindOfDay>) => Tally | undefined) | undefined {
  const place = DIMENSION_COLUMNS.indexOf(field);
  if (place !== -1) return ({ tallies }) => tallies?.[place];
  const utm = UTM_FIELDS.find((name) => field === `utm_${name}`);
  if (utm) return (counted) => counted.utm?.[utm];
  if (field === "destination") return ({ rules }) => rules;
  if (field === "region") return ({ regions }) => regions;
  return field === "language" ? ({ languages }) => languages : undefined;
}

/** Without visitors. Of a field that the breakdowns have. */
function hitsByValue(
  field: CountedBy,
  kinds: readonly ClickKind[],
  counted: { [K in ClickKind]?: Breakdown | KindOfDay },
): ValueCounts {
  const places = new Map<Value, number>();
  const list: ValueCounts = [];
  for (const kind of kinds)
    for (const [value, count] of valueCounts(tallyOf(field)?.(counted[kind] ?? {}) ?? [])) {
      let place = places.get(value);
      if (place === undefined) {
        place = list.push(value, 0, 0, 0, 0) - VALUE_MEMBERS;
        places.set(value, place);
      }
      list[place + 1 + CLICK_KINDS.indexOf(kind)] = count;
    }
  return list;
}
