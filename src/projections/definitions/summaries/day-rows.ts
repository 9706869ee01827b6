// The rows of tables by number, so that those of a link are a list of numbers until they are summed.
import { CLICK_KINDS, type ClickKind, UTM_FIELDS } from "../../../events/vocabulary.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import type { ColumnName } from "../click-tables/columns.ts";
import { type Column, rowsAsOf, withdrawnRows } from "../click-tables/decode-chunk.ts";
import { laterOf } from "../click-tables/positions.ts";
import type { ChunkRows } from "../click-tables/table.ts";
import { DIMENSIONS } from "./breakdown.ts";

/** The columns of DIMENSIONS, in their order, and those of the other tallies. */
export const COUNTED = [
  ...Object.values(DIMENSIONS),
  ...(["region", "language"] as const),
  ...UTM_FIELDS.map((field) => `utm_${field}` as const),
] as const satisfies readonly ColumnName[];

/** `withdrawn`: 1 for each such row. `marked`: the last event of the marks of each row that has any. */
export type PartRows = ChunkRows & {
  accountId: string;
  day: string;
  withdrawn: Uint8Array | undefined;
  marked: ReadonlyMap<number, Position>;
  /** Of each text of the kind's column the index in CLICK_KINDS. */
  kinds: Uint8Array;
  columns: readonly Column[];
};

/** A row's place is the index of its part times PART, and its index there. */
export type DayRows = PartRows[];

/** More than a chunk has rows. */
const PART = 2 ** 20;
/** Between two pauses: a millisecond of work. */
const ROWS_AT_A_TIME = 10_000;

export function partRows(part: ChunkRows): PartRows {
  const { chunk } = part;
  const marked = new Map<number, Position>();
  for (const { from, until, rows } of chunk.marks) {
    const last = laterOf(from, until);
    for (const row of rows) if (last > (marked.get(row) ?? "")) marked.set(row, last);
  }
  return {
    ...part,
    accountId: chunk.accountId,
    day: chunk.day,
    withdrawn: withdrawnRows(chunk),
    marked,
    kinds: Uint8Array.from(chunk.columns.judged.values, (kind) => CLICK_KINDS.indexOf(kind as ClickKind)),
    columns: COUNTED.map((name) => chunk.columns[name]),
  };
}

export function partOfPlace(rows: DayRows, place: number): PartRows {
  return rows[Math.floor(place / PART)] as PartRows;
}

export function rowOfPlace(place: number): number {
  return place % PART;
}

export function isMarked(rows: DayRows, place: number): boolean {
  const { marked } = partOfPlace(rows, place);
  return marked.size > 0 && marked.has(rowOfPlace(place));
}

/** Whether the row was recorded, withdrawn or restored after the position. */
export function changedSince(rows: DayRows, position: Position): (place: number) => boolean {
  /** Of the parts that are asked for, as `rows` may be of thousands of days. */
  const rowsBefore = new Map<PartRows, number>();
  return (place) => {
    const part = partOfPlace(rows, place);
    const row = rowOfPlace(place);
    const before = rowsBefore.get(part) ?? rowsAsOf(part.chunk, position);
    rowsBefore.set(part, before);
    return row >= before || (part.marked.get(row) ?? "") > position;
  };
}

/** The places of each link's rows, in the order of the log, of the parts from the index `first` on. Undefined is a pause. */
export function* placesByLink(
  rows: DayRows,
  first = 0,
  wanted?: ReadonlySet<string>,
): Generator<undefined, Map<string, number[]>> {
  const byLink = new Map<string, number[]>();
  for (let n = first; n < rows.length; n++) {
    const { chunk, from, to } = rows[n] as PartRows;
    const { values, rows: indexes } = chunk.columns.link;
    const ofIndex: (number[] | null | undefined)[] = [];
    for (let row = from; row < to; row++) {
      if ((row - from) % ROWS_AT_A_TIME === ROWS_AT_A_TIME - 1) yield;
      const index = indexes[row] as number;
      let places = ofIndex[index];
      if (places === undefined) {
        const link = values[index] as string;
        places = wanted && !wanted.has(link) ? null : (byLink.get(link) ?? []);
        if (places) byLink.set(link, places);
        ofIndex[index] = places;
      }
      places?.push(n * PART + row);
    }
  }
  return byLink;
}
