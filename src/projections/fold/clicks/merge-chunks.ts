// Merges the chunks of a day, for who reads it and for the number of documents: not the last one, which commits may replace.

import { type ChunkDocument, clickTables, MOST_ROWS } from "../../definitions/click-tables/chunk.ts";
import { ChunkBuilder, MOST_CHARACTERS } from "../../definitions/click-tables/chunk-builder.ts";
import type { DecodedChunk } from "../../definitions/click-tables/decode-chunk.ts";
import { versionAfter } from "../../definitions/click-tables/positions.ts";
import { rowsOfTable } from "../../definitions/click-tables/table.ts";
import { type AccountDay, type ClickWorkDeps, chunkOf, headsOf, type StoredHead } from "./stored-tables.ts";

/** Rows that are added to the merged chunk between two pauses. */
const ROWS_AT_A_TIME = 5_000;

/**
 * Yields between steps; to be ended by the caller at any of them, if need be. A merged chunk has the first one's id; the
 * others are removed in the same write, after it. @throws what the store throws
 */
export async function* mergeChunks(deps: ClickWorkDeps, of: AccountDay): AsyncGenerator<void, void> {
  const heads = await headsOf(deps.readStore, of);
  for (const run of runsOf(heads.slice(0, -1))) {
    let chunks: DecodedChunk[] = [];
    let characters = 0;
    for (const { _id } of run) {
      const chunk = await chunkOf(deps.readStore, _id);
      yield;
      if (!chunk) continue;
      const more = charactersIn(chunk);
      characters += more;
      if (characters > MOST_CHARACTERS) {
        yield* writeMerged(deps, of, chunks);
        [chunks, characters] = [[], more];
      }
      chunks.push(chunk);
    }
    yield* writeMerged(deps, of, chunks);
  }
}

async function* writeMerged(
  deps: ClickWorkDeps,
  of: AccountDay,
  chunks: readonly DecodedChunk[],
): AsyncGenerator<void, void> {
  const [first, ...others] = chunks;
  if (!first || others.length === 0) return;
  const builder = new ChunkBuilder(of.accountId, of.day);
  for (const { chunk, from, to } of rowsOfTable(chunks))
    for (let row = from; row < to; row += ROWS_AT_A_TIME) {
      builder.addRows(chunk, row, Math.min(to, row + ROWS_AT_A_TIME));
      yield;
    }
  const document: ChunkDocument = builder.document();
  await deps.write([
    {
      collection: clickTables.name,
      documents: [{ ...document, _position: versionAfter(document._position, first.version) }],
      replaced: new Map([[first.id, first.version]]),
      removed: others.map(({ id, version }) => ({ id, position: version })),
    },
  ]);
  yield;
}

/** Of its dictionaries. */
function charactersIn({ columns }: DecodedChunk): number {
  let characters = 0;
  for (const { values } of Object.values(columns)) for (const { length } of values) characters += length;
  return characters;
}

/** Chunks that follow each other and have no more rows together than one may have. */
function runsOf(heads: readonly StoredHead[]): StoredHead[][] {
  const runs: StoredHead[][] = [];
  let rows = 0;
  for (const head of heads) {
    const run = runs.at(-1);
    if (run && rows + head.rows <= MOST_ROWS) run.push(head);
    else {
      runs.push([head]);
      rows = 0;
    }
    rows += head.rows;
  }
  return runs.filter(({ length }) => length > 1);
}
