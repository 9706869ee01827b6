// Counts the rows of one UTC day that fit a question: by kind, by the points of its series and by the values of its groups,
// with the people who made them. Days are added up (sum-days.ts): nobody is known again on another.
import { CLICK_KINDS, type ClickKind } from "../../../events/vocabulary.ts";
import type { DecodedChunk } from "../../../projections/definitions/click-tables/decode-chunk.ts";
import type { ChunkRows } from "../../../projections/definitions/click-tables/table.ts";
import { ruleHit } from "../../../projections/definitions/rule-hits.ts";
import type { Value } from "../../../projections/definitions/summaries/tally.ts";
import {
  countVisitors,
  MOST_CODES,
  visitorsOf,
} from "../../../projections/definitions/summaries/visitors.ts";
import type { TimeSlices } from "../../../runtime/threads/time-slices.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import type { Interval } from "../intervals.ts";
import type { Filters, GroupBy } from "../question.ts";
import type { TimeZone } from "../time-zone.ts";
import { columnOf, isLocal, localValues, type TagsOf, valuesOf } from "./group-values.ts";
import { type RowFilter, selectRows } from "./select-rows.ts";

export type KindCounts = Record<ClickKind, number>;

/** `visitors`: who made the clicks and QR scans, or all hits (visitorKinds); null where that isn't known (knownVisitors). */
export type Counted = KindCounts & { visitors: number | null; estimated: boolean };

/** `points`: by the index of the start. Only what has hits. */
export type DayCounts = {
  day: string;
  total: Counted;
  points: Map<number, Counted>;
  groups: Map<CountedBy, Map<Value, Counted>>;
};

/** `destination`: by the rule that led there, and where (ruleHit). */
export type CountedBy = GroupBy | "destination";

/** `starts`: of the points of a series; none where only totals are asked. */
export type RowQuestion = RowFilter & {
  groupBy: readonly CountedBy[];
  starts: readonly number[];
  visitorKinds: readonly ClickKind[];
};

/**
 * `starts`: of the points of a series; none where only totals are asked. `hitsOnly`: nobody asks for the visitors of points and
 * of values, and values that a day has cut may be told as others. `visitorKinds`: of the hits whose visitors are counted.
 */
export type Counting = {
  accountId: string;
  filters: Filters;
  kinds: readonly ClickKind[];
  zone: TimeZone;
  starts: readonly number[];
  interval: Interval;
  groupBy: readonly CountedBy[];
  asOf: Position;
  hitsOnly: boolean;
  visitorKinds: readonly ClickKind[];
};

const KINDS = CLICK_KINDS.length;
/** Of the seats of values, kinds and visitors that are marked by bits: 16 MB. */
const MOST_BITS = 2 ** 27;

/** Rows of one chunk, with what is the same for all fields: their kinds, and the numbers of their visitors on the day. */
type Selected = { chunk: DecodedChunk; rows: Uint32Array; kinds: Uint8Array; visitors: Int32Array };

/** By the numbers that `groups` gives to the rows, -1 for none; of a field with several values a row has several numbers. */
type Count = (groups: (part: Selected) => Int32Array[], size: () => number) => Promise<Counted[]>;

/** `tables`: of the day. The thread takes its messages meanwhile. @throws the reason of the slices' signal */
export async function countRows(
  day: string,
  tables: readonly ChunkRows[],
  question: RowQuestion,
  tagsOf: TagsOf,
  slices: TimeSlices,
): Promise<DayCounts> {
  const codes = new Map<string, number>();
  const selected: Selected[] = [];
  for (const table of tables) {
    await slices.next();
    const rows = selectRows(table, question, tagsOf);
    const { chunk } = table;
    if (rows.length > 0)
      selected.push({ chunk, rows, kinds: kindsOf(chunk, rows), visitors: peopleOf(chunk, rows, codes) });
  }
  const people = [...codes.keys()];
  const isCounted = CLICK_KINDS.map((kind) => question.visitorKinds.includes(kind));
  const count: Count = (groups, size) => countBy(selected, { people, isCounted }, groups, size, slices);
  const [total = none()] = await count(
    ({ rows }) => [new Int32Array(rows.length)],
    () => 1,
  );
  const points = await pointsOf(selected, question.starts, count);
  const groups = new Map<CountedBy, Map<Value, Counted>>();
  for (const field of question.groupBy) groups.set(field, await groupOf(field, question.zone, tagsOf, count));
  return { day, total, points, groups };
}

async function countBy(
  selected: readonly Selected[],
  { people, isCounted }: { people: readonly string[]; isCounted: readonly boolean[] },
  groups: (part: Selected) => Int32Array[],
  size: () => number,
  slices: TimeSlices,
): Promise<Counted[]> {
  const numbers: Int32Array[][] = [];
  for (const part of selected) {
    await slices.next();
    numbers.push(groups(part));
  }
  const groupCount = size();
  const hits = new Uint32Array(groupCount * KINDS);
  const isNew = firstSights(groupCount * KINDS, people.length);
  /** By group and kind. */
  const visitors: number[][] = [];
  for (const [n, { rows, kinds, visitors: codes }] of selected.entries()) {
    for (const list of numbers[n] as Int32Array[]) {
      await slices.next();
      for (let row = 0; row < rows.length; row++) {
        const group = list[row] as number;
        if (group < 0) continue;
        const kind = kinds[row] as number;
        const place = group * KINDS + kind;
        hits[place] = (hits[place] as number) + 1;
        const visitor = codes[row] as number;
        if (!isCounted[kind] || visitor < 0 || !isNew(place, visitor)) continue;
        const seen = visitors[place];
        if (seen) seen.push(visitor);
        else visitors[place] = [visitor];
      }
    }
  }
  const counted: Counted[] = [];
  for (let group = 0; group < groupCount; group++) {
    await slices.next();
    const counts = Object.fromEntries(
      CLICK_KINDS.map((kind, n) => [kind, hits[group * KINDS + n] ?? 0]),
    ) as KindCounts;
    const ofKinds = CLICK_KINDS.flatMap((_kind, n) => {
      const seen = visitors[group * KINDS + n];
      return seen ? [seen] : [];
    });
    const hitsOf = CLICK_KINDS.reduce((sum, kind, n) => sum + (isCounted[n] ? counts[kind] : 0), 0);
    counted.push({ ...counts, ...distinct(ofKinds, people, hitsOf) });
  }
  return counted;
}

/** As the summaries of closed days count them (visitors.ts): each kind's are exact up to MOST_CODES, or a sketch. */
function distinct(ofKinds: readonly number[][], people: readonly string[], hits: number) {
  if (ofKinds.every(({ length }) => length <= MOST_CODES)) {
    const [only = []] = ofKinds;
    const visitors = ofKinds.length <= 1 ? only.length : new Set(ofKinds.flat()).size;
    return { visitors: knownVisitors(visitors, hits), estimated: false };
  }
  const texts = ofKinds.map((numbers) => visitorsOf(numbers.map((number) => people[number] as string)));
  return countVisitors(texts, hits);
}

/** Of a day's hits. Null where none of them has a visitor's code, such as of clicks that were imported without addresses. */
export function knownVisitors(visitors: number, hits: number): number | null {
  return visitors === 0 && hits > 0 ? null : visitors;
}

/** Whether a visitor is seen for the first time in a place. */
function firstSights(places: number, people: number): (place: number, visitor: number) => boolean {
  if (places * people > MOST_BITS) {
    const seen = new Set<number>();
    return (place, visitor) => {
      const { size } = seen;
      return seen.add(place * people + visitor).size > size;
    };
  }
  const seen = new Uint32Array(Math.ceil((places * people) / 32));
  return (place, visitor) => {
    const seat = place * people + visitor;
    const [word, bit] = [seat >>> 5, 1 << (seat & 31)];
    const before = seen[word] as number;
    if ((before & bit) !== 0) return false;
    seen[word] = before | bit;
    return true;
  };
}

function none(): Counted {
  return { click: 0, preview: 0, qr_scan: 0, visitors: 0, estimated: false };
}

function kindsOf(chunk: DecodedChunk, rows: Uint32Array): Uint8Array {
  const { values, rows: codes } = chunk.columns.judged;
  const kinds = values.map((text) => CLICK_KINDS.indexOf(text as ClickKind));
  return Uint8Array.from(rows, (row) => kinds[codes[row] as number] as number);
}

/** -1 for nobody. `known`: numbers by the codes of the day so far, in their order. */
function peopleOf(chunk: DecodedChunk, rows: Uint32Array, known: Map<string, number>): Int32Array {
  const { values, rows: codes } = chunk.columns.visitor;
  const numbers = new Int32Array(values.length).fill(-2);
  return Int32Array.from(rows, (row) => {
    const code = codes[row] as number;
    const number = numbers[code] as number;
    if (number !== -2) return number;
    const text = values[code] as string;
    const found = text === "" ? -1 : (known.get(text) ?? known.size);
    if (found === known.size) known.set(text, found);
    numbers[code] = found;
    return found;
  });
}

async function pointsOf(
  selected: readonly Selected[],
  starts: readonly number[],
  count: Count,
): Promise<Map<number, Counted>> {
  if (starts.length === 0 || selected.length === 0) return new Map();
  const first = placeOf(starts, Math.min(...selected.map(({ chunk }) => chunk.firstAt)));
  const last = placeOf(starts, Math.max(...selected.map(({ chunk }) => chunk.lastAt)));
  const numbersOf = ({ chunk, rows }: Selected) => {
    let [number, from, to] = [0, 0, 0];
    const numberOf = (row: number) => {
      const at = chunk.at[row] as number;
      if (at >= from && at < to) return number;
      const place = placeOf(starts, at);
      [from, to] = [starts[place] as number, starts[place + 1] ?? Number.POSITIVE_INFINITY];
      number = place - first;
      return number;
    };
    return [Int32Array.from(rows, numberOf)];
  };
  const counted = await count(numbersOf, () => last - first + 1);
  return new Map(
    counted.flatMap((point, n): [number, Counted][] => (hitsIn(point) > 0 ? [[n + first, point]] : [])),
  );
}

/** The last point that starts at or before the instant; the first one for an instant before it. */
export function placeOf(starts: readonly number[], instant: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] as number) <= instant) low = middle;
    else high = middle - 1;
  }
  return low;
}

async function groupOf(
  field: CountedBy,
  zone: TimeZone,
  tagsOf: TagsOf,
  count: Count,
): Promise<Map<Value, Counted>> {
  const known = new Map<string, number>();
  const numberOf = (value: string) => {
    const number = known.get(value) ?? known.size;
    if (number === known.size) known.set(value, number);
    return number;
  };
  const numbersOf = (part: Selected) => {
    if (field === "destination") return [destinations(part, numberOf)];
    if (!isLocal(field)) return byColumn(field, part, tagsOf, numberOf);
    const valueAt = localValues(field, zone);
    let [value, number] = ["", -1];
    const numberAt = (row: number) => {
      const next = valueAt(part.chunk.at[row] as number);
      if (next !== value) [value, number] = [next, numberOf(next)];
      return number;
    };
    return [Int32Array.from(part.rows, numberAt)];
  };
  const counted = await count(numbersOf, () => known.size);
  return new Map([...known].map(([value, number]) => [value, counted[number] as Counted]));
}

function byColumn(
  field: GroupBy,
  { chunk, rows }: Selected,
  tagsOf: TagsOf,
  numberOf: (value: string) => number,
): Int32Array[] {
  const { values, rows: codes } = chunk.columns[columnOf(field) ?? "link"];
  const numbers = new Map<number, number[]>();
  let most = 1;
  for (const row of rows) {
    const code = codes[row] as number;
    if (numbers.has(code)) continue;
    const texts = new Set(valuesOf(field, values[code] as string, tagsOf));
    numbers.set(code, [...texts].map(numberOf));
    if (texts.size > most) most = texts.size;
  }
  return Array.from({ length: most }, (_, nth) => {
    const nths = new Int32Array(values.length).fill(-1);
    for (const [code, all] of numbers) nths[code] = all[nth] ?? -1;
    return Int32Array.from(rows, (row) => nths[codes[row] as number] as number);
  });
}

/** Of rows that were led by a rule, or by none of a link's rules. */
function destinations({ chunk, rows }: Selected, numberOf: (value: string) => number): Int32Array {
  const { rule, destination } = chunk.columns;
  const known = new Map<number, number>();
  return Int32Array.from(rows, (row) => {
    const [ruleCode, code] = [rule.rows[row] as number, destination.rows[row] as number];
    const text = rule.values[ruleCode] as string;
    if (text === "") return -1;
    const pair = ruleCode * destination.values.length + code;
    const number = known.get(pair) ?? numberOf(ruleHit(text, destination.values[code] as string));
    known.set(pair, number);
    return number;
  });
}

export function hitsIn({ click, preview, qr_scan }: KindCounts): number {
  return click + preview + qr_scan;
}
