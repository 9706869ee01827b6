// Reads the click tables of an account in the reader thread: their chunks are decoded once and kept as typed arrays.

import { LRUCache } from "lru-cache";
import {
  CHUNK_HEAD,
  type ChunkDocument,
  chunksOf,
  clickTables,
} from "../../../projections/definitions/click-tables/chunk.ts";
import {
  type DecodedChunk,
  decodeChunk,
  rowsAsOf,
  sizeOf,
} from "../../../projections/definitions/click-tables/decode-chunk.ts";
import { eventOf } from "../../../projections/definitions/click-tables/positions.ts";
import type { ChunkRows } from "../../../projections/definitions/click-tables/table.ts";
import { DayBeingClosed } from "../../../projections/fold/clicks/stored-days.ts";
import { chunkHeads, type StoredHead } from "../../../projections/fold/clicks/stored-tables.ts";
import { DomainError } from "../../../runtime/errors.ts";
import type { TimeSlices } from "../../../runtime/threads/time-slices.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";

/** A million rows of an account with many visitors take 66 MB. */
const KEPT_BYTES = 96 * 1024 * 1024;
/** Chunks may be merged between the read of their heads and that of their columns. */
const TRIES = 10;

/** `skip`: its rows up to this position are contained in the chunks before it (table.ts). `build`: whose chunk it is. */
export type Head = StoredHead & { skip: Position; build: number };

/** `heads`: of one UTC day, in the order of their first rows. `version`: of the last event that changed the table. */
export type TableDay = { day: string; heads: Head[]; version: Position };

export class ChunkReplaced extends DomainError {
  override readonly code = "chunk_replaced";
}

/** `queried`: the number of the build that the store reads from; by default there is one. */
type Deps = { readStore: Pick<ReadStore, "find" | "get">; queried?: () => Promise<number> };

export type TableReader = ReturnType<typeof tableReader>;

/** One for all that ask. */
export function tableReader({ readStore, queried = async () => 0 }: Deps) {
  const kept = new LRUCache<string, DecodedChunk>({ maxSize: KEPT_BYTES, sizeCalculation: sizeOf });

  /** In the order of the days, YYYY-MM-DD, both inclusive. @throws what the store throws */
  async function days(accountId: string, from?: string, to?: string): Promise<TableDay[]> {
    const byDay = new Map<string, TableDay>();
    const build = await queried();
    let last: Position = "";
    for await (const head of chunkHeads(readStore, accountId, from, to)) {
      const known = byDay.get(head.day);
      const ofDay = known ?? { day: head.day, heads: [], version: "" };
      if (!known) {
        byDay.set(head.day, ofDay);
        last = "";
      }
      const version = eventOf(head._position);
      if (version > ofDay.version) ofDay.version = version;
      if (head.last <= last) continue;
      ofDay.heads.push({ ...head, skip: last, build });
      last = head.last;
    }
    if ((await queried()) !== build) throw new ChunkReplaced("Another build has taken over");
    return [...byDay.values()];
  }

  /** The earliest; undefined for none. */
  async function firstDay(accountId: string): Promise<TableDay | undefined> {
    const query = { range: chunksOf(accountId), fields: CHUNK_HEAD, limit: 1 };
    const [head] = await readStore.find<StoredHead>(clickTables.name, query);
    return head && (await days(accountId, head.day, head.day))[0];
  }

  /** The rows up to `asOf`. @throws ChunkReplaced, the reason of the slices' signal, what the store throws */
  async function rowsOf(head: Head, asOf: Position | undefined, slices: TimeSlices): Promise<ChunkRows> {
    const chunk = kept.get(keyOf(head)) ?? (await read(head, slices));
    const from = head.skip === "" || head.first > head.skip ? 0 : rowsAsOf(chunk, head.skip);
    // As of before the end of the chunks before it, it has none.
    return { chunk, from, to: Math.max(from, rowsAsOf(chunk, asOf)) };
  }

  async function read(head: Head, slices: TimeSlices): Promise<DecodedChunk> {
    const document = await readStore.get<ChunkDocument>(clickTables.name, head._id);
    // Another build has taken over, whose chunks may be called the same.
    if (document?._position !== head._position || (await queried()) !== head.build)
      throw new ChunkReplaced(`Chunk ${head._id} was replaced`);
    await slices.next();
    const chunk = decodeChunk(document);
    kept.set(keyOf(head), chunk);
    return chunk;
  }

  /** In the order of the heads, without chunks that have no row. @throws ChunkReplaced, the reason of the slices' signal */
  async function* tables(
    heads: readonly Head[],
    asOf: Position | undefined,
    slices: TimeSlices,
  ): AsyncGenerator<ChunkRows> {
    for (const head of heads) {
      if (asOf !== undefined && head.first > asOf) continue;
      await slices.next();
      const rows = await rowsOf(head, asOf, slices);
      if (rows.from < rows.to) yield rows;
    }
  }

  return { days, firstDay, rowsOf, tables, queried };
}

/** The work again, where chunks that it reads were merged meanwhile. */
export async function withPresentChunks<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await work();
    } catch (error) {
      const isReplaced = error instanceof ChunkReplaced || error instanceof DayBeingClosed;
      if (!isReplaced || attempt === TRIES) throw error;
    }
}

/** The same position in the same build means the same document. */
export function keyOf({ _id, _position, build }: Head): string {
  return `${build} ${_id} ${_position}`;
}

/** How many rows have to be read for the day. */
export function rowsIn({ heads }: TableDay): number {
  return heads.reduce((sum, { rows }) => sum + rows, 0);
}
