// Decodes a chunk into typed arrays, which are filtered and counted in some nanoseconds a row.
import type { Position } from "../../../stores/event-store/port.ts";
import type { ChunkDocument, ChunkHead, Mark, StoredColumn } from "./chunk.ts";
import { COLUMNS, type ColumnName } from "./columns.ts";
import { decodedPositions, type Positions, positionAt, rowsUpTo, sums } from "./positions.ts";

export type Indexes = Uint8Array | Uint16Array | Uint32Array;

/** `rows`: of each row the index of its text in `values`, which has each text once. */
export type Column = { values: readonly string[]; rows: Indexes };

/** `at`: milliseconds. Rows are in the order of the log. `kind` and `judged` are the same object where the kinds are. */
export type DecodedChunk = ChunkHead & {
  id: string;
  /** `_position` of the document: with `id` it tells one decoded chunk from a later one. */
  version: Position;
  at: Float64Array;
  positions: Positions;
  columns: Readonly<Record<ColumnName, Column>>;
  marks: readonly Mark[];
};

export function decodeChunk({ _id, _position, columns, ...chunk }: ChunkDocument): DecodedChunk {
  const decoded = {} as Record<ColumnName, Column>;
  const zeros = new Uint8Array(chunk.rows);
  for (const name of COLUMNS) {
    const stored = columns[name];
    if (stored) decoded[name] = decodedColumn(stored, zeros);
  }
  decoded.judged ??= decoded.kind;
  return {
    ...chunk,
    id: _id,
    version: _position,
    at: sums(columns.at),
    positions: decodedPositions(columns.position),
    columns: decoded,
  };
}

export function positionOfRow({ positions }: DecodedChunk, row: number): Position {
  return positionAt(positions, row);
}

/** How many rows were recorded up to the position, that one included: they are the first ones. */
export function rowsAsOf(chunk: Pick<DecodedChunk, "positions" | "rows" | "last">, asOf?: Position): number {
  if (asOf === undefined || chunk.last <= asOf) return chunk.rows;
  return rowsUpTo(chunk.positions, chunk.rows, asOf);
}

/** 1 for each row that is withdrawn, as of the position or now; undefined where none is. */
export function withdrawnRows(
  { rows, marks }: Pick<DecodedChunk, "rows" | "marks">,
  asOf?: Position,
): Uint8Array | undefined {
  let withdrawn: Uint8Array | undefined;
  for (const mark of marks) {
    if (!holds(mark, asOf)) continue;
    withdrawn ??= new Uint8Array(rows);
    for (const row of mark.rows) withdrawn[row] = 1;
  }
  return withdrawn;
}

/** Whether the withdrawal is in force as of the event at the position, that one included; by default as of now. */
export function holds({ from, until }: Pick<Mark, "from" | "until">, asOf?: Position): boolean {
  if (asOf === undefined) return until === "";
  return from <= asOf && (until === "" || until > asOf);
}

/** Bytes that it takes in memory, about. */
export function sizeOf({ at, positions, columns }: DecodedChunk): number {
  const all = Object.values(columns);
  const numbers = new Set([at, ...positions.parts.map(({ after }) => after), ...all.map(({ rows }) => rows)]);
  let bytes = 0;
  for (const { byteLength } of numbers) bytes += byteLength;
  for (const values of new Set(all.map((column) => column.values)))
    for (const { length } of values) bytes += length + 24;
  return bytes;
}

/** `zeros`: of all rows, for the columns in which they have the same text. */
function decodedColumn({ values, rows }: StoredColumn, zeros: Uint8Array): Column {
  const Rows = values.length <= 256 ? Uint8Array : values.length <= 65_536 ? Uint16Array : Uint32Array;
  return { values, rows: rows ? new Rows(rows) : zeros };
}
