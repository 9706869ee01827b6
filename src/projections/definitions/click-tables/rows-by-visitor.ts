// Rows of one UTC day in the order of who made them, so that hits and visitors of any values are counted in one pass over numbers.
import { CLICK_KINDS, type ClickKind } from "../../../events/vocabulary.ts";
import { NOT_KNOWN } from "../summaries/visitors.ts";
import type { ColumnName } from "./columns.ts";
import type { DecodedChunk } from "./decode-chunk.ts";

/** Rows of a chunk, by their indexes. */
export type RowsOfChunk = { chunk: DecodedChunk; rows: Uint32Array };

/**
 * `count`: of the rows of all parts, which are numbered one after the other. By row, `kinds`: the index in CLICK_KINDS;
 * `visitors`: a number for each person, -1 for nobody. `order`: the rows by their visitors. `people`: how many visitors there are.
 */
export type RowsByVisitor = {
  parts: readonly RowsOfChunk[];
  count: number;
  kinds: Uint8Array;
  visitors: Int32Array;
  order: Uint32Array;
  people: number;
};

/** Of each number its hits by kind, in the order of CLICK_KINDS, and its visitors or NOT_KNOWN: four counts in turn. */
export type Counts = Int32Array;
export const COUNTS = CLICK_KINDS.length + 1;
const ROWS_A_STEP = 200_000;

/** Work in steps of some milliseconds, between which its caller may do something else. */
export type InSteps<T> = Generator<undefined, T>;

export function* rowsByVisitor(parts: readonly RowsOfChunk[]): InSteps<RowsByVisitor> {
  const texts = textNumbers(parts.length > 1);
  const visitors = yield* columnNumbers(parts, "visitor", texts.numberOf);
  const kindOf = (text: string) => CLICK_KINDS.indexOf(text as ClickKind);
  const kinds = new Uint8Array(yield* columnNumbers(parts, "judged", kindOf));
  yield;
  const people = texts.values.length;
  const order = inOrder(visitors, people);
  yield;
  return { parts, count: visitors.length, kinds, visitors, order, people };
}

/** Gives each text a number, -1 to "". `mayRepeat`: whether a text may be asked for again. */
export function textNumbers(mayRepeat = true): { values: string[]; numberOf: (text: string) => number } {
  const values: string[] = [];
  const known = new Map<string, number>();
  const add = (text: string) => (text === "" ? -1 : values.push(text) - 1);
  const numberOf = (text: string) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const number = add(text);
    known.set(text, number);
    return number;
  };
  return { values, numberOf: mayRepeat ? numberOf : add };
}

/** Of each row the number of its text in the column; `numberOf` is asked once for each text of a chunk that a row has. */
export function columnNumbers(
  parts: readonly RowsOfChunk[],
  column: ColumnName,
  numberOf: (text: string) => number,
): InSteps<Int32Array> {
  return numbersOf(parts, ({ chunk, rows }, numbers, place) => {
    const { values, rows: codes } = chunk.columns[column];
    const ofCodes = new Int32Array(values.length).fill(NOT_ASKED);
    for (let n = 0; n < rows.length; n++) {
      const code = codes[rows[n] as number] as number;
      let number = ofCodes[code] as number;
      if (number === NOT_ASKED) {
        number = numberOf(values[code] as string);
        ofCodes[code] = number;
      }
      numbers[place + n] = number;
    }
  });
}
const NOT_ASKED = -2;

/** Of each row the number of its time. */
export function timeNumbers(
  parts: readonly RowsOfChunk[],
  numberOf: (at: number) => number,
): InSteps<Int32Array> {
  return numbersOf(parts, ({ chunk, rows }, numbers, place) => {
    for (let n = 0; n < rows.length; n++)
      numbers[place + n] = numberOf(chunk.at[rows[n] as number] as number);
  });
}

/** `add`: writes those of a part, from a place on. */
function* numbersOf(
  parts: readonly RowsOfChunk[],
  add: (part: RowsOfChunk, numbers: Int32Array, place: number) => void,
): InSteps<Int32Array> {
  const numbers = new Int32Array(parts.reduce((sum, { rows }) => sum + rows.length, 0));
  let place = 0;
  for (const part of parts) {
    yield;
    add(part, numbers, place);
    place += part.rows.length;
  }
  return numbers;
}

/**
 * Counts the hits and visitors of each number below `size`. `lists`: of each row its number, -1 for none; of a field with several
 * values there are several. `counted`: of the kinds whose visitors are counted.
 */
export function* countNumbers(
  rows: RowsByVisitor,
  lists: readonly Int32Array[],
  size: number,
  counted: readonly ClickKind[],
): InSteps<Counts> {
  const counts: Counts = new Int32Array(size * COUNTS);
  const isCounted = CLICK_KINDS.map((kind) => counted.includes(kind));
  /** The last visitor of each number, whose rows follow each other. */
  const last = new Int32Array(size).fill(-1);
  for (let first = 0; first < rows.count; first += ROWS_A_STEP) {
    yield;
    countStep(rows, lists, { counts, last, isCounted }, first);
  }
  return counts;
}

function countStep(
  { kinds, visitors, order, count }: RowsByVisitor,
  lists: readonly Int32Array[],
  { counts, last, isCounted }: { counts: Counts; last: Int32Array; isCounted: readonly boolean[] },
  first: number,
): void {
  const end = Math.min(count, first + ROWS_A_STEP);
  for (let n = first; n < end; n++) {
    const row = order[n] as number;
    const kind = kinds[row] as number;
    const visitor = visitors[row] as number;
    for (const numbers of lists) {
      const number = numbers[row] as number;
      if (number < 0) continue;
      const place = number * COUNTS;
      counts[place + kind] = (counts[place + kind] as number) + 1;
      if (!isCounted[kind]) continue;
      const known = counts[place + COUNTS - 1] as number;
      // Nobody's rows come first.
      if (visitor < 0) counts[place + COUNTS - 1] = NOT_KNOWN;
      else if (known !== NOT_KNOWN && last[number] !== visitor) {
        last[number] = visitor;
        counts[place + COUNTS - 1] = known + 1;
      }
    }
  }
}

/** A counting sort: nobody's rows, then those of each visitor. */
function inOrder(visitors: Int32Array, people: number): Uint32Array {
  const places = new Uint32Array(people + 2);
  for (let row = 0; row < visitors.length; row++) {
    const after = (visitors[row] as number) + 2;
    places[after] = (places[after] as number) + 1;
  }
  for (let n = 1; n < places.length; n++) places[n] = (places[n] as number) + (places[n - 1] as number);
  const order = new Uint32Array(visitors.length);
  for (let row = 0; row < visitors.length; row++) {
    const visitor = (visitors[row] as number) + 1;
    const place = places[visitor] as number;
    order[place] = row;
    places[visitor] = place + 1;
  }
  return order;
}
