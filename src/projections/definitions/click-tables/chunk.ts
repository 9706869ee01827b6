// A chunk: rows of the click table of an account and UTC day, as a document of dictionary-coded columns.
import type { Position } from "../../../stores/event-store/port.ts";
import type { CollectionSpec, Document } from "../../../stores/read-store/port.ts";
import type { ColumnName } from "./columns.ts";

/** `rows`: of each row the index of its text in `values`; absent where all rows have the first one. */
export type StoredColumn = { values: string[]; rows?: number[] };

/**
 * Positions are numbers of so many `digits`, joined by `:` where they have several parts. `rows`: of each row the first part,
 * as its distance from that of the row before (of the first row from 0). `others`: the other parts, where they differ from it.
 */
export type StoredPositions = { digits: number; parts: number; rows: number[]; others?: number[][] };

/** `at`: milliseconds, as the distance from the row before (of the first row from 0). `judged`: absent where it equals `kind`. */
export type StoredColumns = { at: number[]; position: StoredPositions } & {
  [C in Exclude<ColumnName, "judged">]: StoredColumn;
} & { judged?: StoredColumn };

/** A withdrawal of rows, by their indexes in order: it holds from the one position until the other, which is "" while it does. */
export type Mark = { withdrawalId: string; from: Position; until: Position; rows: number[] };

/**
 * `_id`: of `chunkId`. `first`, `last`: the positions of its first and last row, which are in the order of the log; `firstAt`,
 * `lastAt`: its earliest and latest time, milliseconds. It may contain rows of a chunk after it (reader's rule: table.ts).
 */
export type ChunkDocument = Document & ChunkHead & { columns: StoredColumns; marks: Mark[] };

/** What is found without reading its columns, by `fields` of a search (CHUNK_HEAD). */
export type ChunkHead = {
  accountId: string;
  /** YYYY-MM-DD. */
  day: string;
  rows: number;
  first: Position;
  last: Position;
  firstAt: number;
  lastAt: number;
};

export const CHUNK_HEAD = ["accountId", "day", "rows", "first", "last", "firstAt", "lastAt"] as const;

/** The days are for exports of all accounts. */
export const clickTables: CollectionSpec = { name: "click-tables", indexes: [["day", "first"]] };

/** Some 40 ms to write, and 10 to read. */
export const MOST_ROWS = 20_000;

export function chunkId({ accountId, day, first }: Pick<ChunkHead, "accountId" | "day" | "first">): string {
  return `${accountId}/${day}/${first}`;
}

/** The range of `_id` of the account's chunks of the days from one to another, both YYYY-MM-DD and inclusive. */
export function chunksOf(accountId: string, from = "0000-01-01", to = "9999-12-31") {
  return { field: "_id", from: `${accountId}/${from}`, to: `${accountId}/${to}~` };
}
