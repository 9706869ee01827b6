// The rule for readers of a table: which rows of its chunks it has.
import type { Position } from "../../../stores/event-store/port.ts";
import { type DecodedChunk, rowsAsOf } from "./decode-chunk.ts";

/** Rows of the chunk from the index `from` on and before `to`. */
export type ChunkRows = { chunk: DecodedChunk; from: number; to: number };

/**
 * The rows of the chunks of one account and day, each once, in the order of the log. A crash between writing a merged chunk
 * and removing those in it leaves both: rows up to the last one of an earlier chunk are contained in it. `asOf`: of rows
 * recorded up to the position, that one included.
 */
export function rowsOfTable(chunks: readonly DecodedChunk[], asOf?: Position): ChunkRows[] {
  const table: ChunkRows[] = [];
  let last: Position = "";
  for (const chunk of chunks.toSorted((a, b) => (a.first < b.first ? -1 : 1))) {
    const from = chunk.first > last ? 0 : rowsAsOf(chunk, last);
    const to = rowsAsOf(chunk, asOf);
    if (from < to) table.push({ chunk, from, to });
    if (chunk.last > last) last = chunk.last;
  }
  return table;
}
