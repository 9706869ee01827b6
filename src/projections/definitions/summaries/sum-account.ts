// Sums the rows of an account's table into the summary of its day.
import { CLICK_KINDS, PEOPLE_KINDS } from "../../../events/vocabulary.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import { positionOfRow, withdrawnRows } from "../click-tables/decode-chunk.ts";
import { laterOf } from "../click-tables/positions.ts";
import {
  COUNTS,
  type Counts,
  columnNumbers,
  countNumbers,
  type InSteps,
  type RowsByVisitor,
  rowsByVisitor,
  textNumbers,
  timeNumbers,
} from "../click-tables/rows-by-visitor.ts";
import type { ChunkRows } from "../click-tables/table.ts";
import {
  type AccountDayDocument,
  SUMMED_FIELDS,
  type SummedField,
  VALUE_MEMBERS,
  type ValueCounts,
} from "./account-day.ts";
import { dayOf, type QuarterHour } from "./day.ts";
import { CUT, largest } from "./tally.ts";
import { kindBits, patternsOf } from "./visitors.ts";

const QUARTERS = 96;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const QUARTER_MS = DAY_MS / QUARTERS;
const MOST_VALUES = 1_000;
const KEPT_VALUES = 500;
/** Sets of hours that visitors came in: some 14 bytes each. */
const MOST_PATTERNS = 4_000;
const PEOPLE_BITS = kindBits(PEOPLE_KINDS);

/** Of a day with rows. Undefined is a pause, at which the caller may do something else. */
export function* sumAccount(
  { accountId, day }: { accountId: string; day: string },
  table: readonly ChunkRows[],
): InSteps<Omit<AccountDayDocument, "quietPages">> {
  const rows = yield* rowsByVisitor(table.map((part) => ({ chunk: part.chunk, rows: countingRows(part) })));
  const quarterOf = (at: number) => Math.floor((at % DAY_MS) / QUARTER_MS);
  const quarters = yield* countNumbers(rows, [yield* timeNumbers(rows.parts, quarterOf)], QUARTERS, []);
  const { visitors, hours } = yield* patterns(rows);
  const values: AccountDayDocument["values"] = {};
  for (const field of SUMMED_FIELDS) {
    const counted = yield* valuesOf(rows, field);
    if (counted.length > 0) values[field] = counted;
  }
  return {
    ...{ _id: dayOf(accountId, day), _position: positionOf(table), accountId, day },
    ...{ quarters: quarterHours(quarters), visitors, hours, values },
  };
}

/** Those that are not withdrawn. */
function countingRows({ chunk, from, to }: ChunkRows): Uint32Array {
  const withdrawn = withdrawnRows(chunk);
  const rows = new Uint32Array(to - from);
  let count = 0;
  for (let row = from; row < to; row++) if (!withdrawn?.[row]) rows[count++] = row;
  return rows.subarray(0, count);
}

/** Of the last event of the table: a click, withdrawn or not, a withdrawal or the end of one. */
function positionOf(table: readonly ChunkRows[]): Position {
  return laterOf(
    ...table.flatMap(({ chunk, from, to }) => {
      const marks = chunk.marks.filter(({ rows }) => rows.some((row) => row >= from && row < to));
      return [positionOfRow(chunk, to - 1), ...marks.flatMap((mark) => [mark.from, mark.until])];
    }),
  );
}

function quarterHours(counts: Counts): QuarterHour[] {
  const quarters: QuarterHour[] = [];
  for (let quarter = 0; quarter < QUARTERS; quarter++) {
    const place = quarter * COUNTS;
    const [click = 0, preview = 0, qrScan = 0] = counts.subarray(place, place + CLICK_KINDS.length);
    if (click + preview + qrScan > 0) quarters.push([quarter, click, preview, qrScan]);
  }
  return quarters;
}

/** How many visitors made which kinds of hit, and in which hours people came. */
function* patterns(rows: RowsByVisitor): InSteps<Pick<AccountDayDocument, "visitors" | "hours">> {
  const hourOf = yield* timeNumbers(rows.parts, (at) => Math.floor((at % DAY_MS) / HOUR_MS));
  yield;
  const kindsOf = new Uint8Array(rows.people);
  const hoursOf = new Uint32Array(rows.people);
  let [unknownKinds, unknownHours] = [0, 0];
  for (let row = 0; row < rows.count; row++) {
    const visitor = rows.visitors[row] as number;
    const kind = 1 << (rows.kinds[row] as number);
    const hour = kind & PEOPLE_BITS ? 1 << (hourOf[row] as number) : 0;
    if (visitor < 0) [unknownKinds, unknownHours] = [unknownKinds | kind, unknownHours | hour];
    else {
      kindsOf[visitor] = (kindsOf[visitor] as number) | kind;
      hoursOf[visitor] = (hoursOf[visitor] as number) | hour;
    }
  }
  yield;
  const hours = patternsOf(hoursOf, unknownHours);
  return {
    visitors: patternsOf(kindsOf, unknownKinds),
    hours: hours.length <= 2 * MOST_PATTERNS ? hours : [],
  };
}

function* valuesOf(rows: RowsByVisitor, field: SummedField): InSteps<ValueCounts> {
  const texts = textNumbers(field === "domain" || rows.parts.length > 1);
  const numberOf = field === "domain" ? (link: string) => texts.numberOf(hostOfLink(link)) : texts.numberOf;
  const numbers = yield* columnNumbers(rows.parts, field === "domain" ? "link" : field, numberOf);
  const counts = yield* countNumbers(rows, [numbers], texts.values.length, PEOPLE_KINDS);
  return boundedValues(valueCounts(texts.values, counts));
}

/** Of a link's key. */
export function hostOfLink(link: string): string {
  return link.slice(0, link.indexOf("/"));
}

/** `values`: by their numbers. */
export function valueCounts(values: readonly string[], counts: Counts): ValueCounts {
  const list: ValueCounts = [];
  for (const [number, value] of values.entries()) {
    list.push(value);
    for (let n = number * COUNTS; n < (number + 1) * COUNTS; n++) list.push(counts[n] as number);
  }
  return list;
}

function boundedValues(list: ValueCounts): ValueCounts {
  if (list.length <= MOST_VALUES * VALUE_MEMBERS) return list;
  const hitsAt = (place: number) =>
    CLICK_KINDS.reduce((sum, _, n) => sum + (list[place + 1 + n] as number), 0);
  const places = Array.from({ length: list.length / VALUE_MEMBERS }, (_, n) => n * VALUE_MEMBERS);
  const byHits = (a: number, b: number) =>
    hitsAt(b) - hitsAt(a) || ((list[a] as string) < (list[b] as string) ? -1 : 1);
  const kept = largest(places, KEPT_VALUES, byHits).flatMap((place) =>
    list.slice(place, place + VALUE_MEMBERS),
  );
  const sumAt = (of: ValueCounts, n: number) => {
    let sum = 0;
    for (let place = n; place < of.length; place += VALUE_MEMBERS) sum += of[place] as number;
    return sum;
  };
  const rest = CLICK_KINDS.map((_, n) => sumAt(list, n + 1) - sumAt(kept, n + 1));
  return [...kept, CUT, ...rest, 0];
}
