// Replaces batches of the SQLite log by references to the blocks of an archive file, and back, one block a transaction.
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import { inTransaction } from "../../../connections/sqlite.ts";
import { ArchiveConflict, ArchiveUnreadable } from "../../log-archive.ts";
import type { BatchWriter } from "../batch-writer.ts";
import { boundsOf, type IndexedBatch } from "../merge-batches.ts";
import { mergedBody } from "../merged-body.ts";
import { joinedParts } from "../stored-batch.ts";
import { type BlockEntry, readIndex } from "./archive-file.ts";
import { bytesAt, isBlock, readArchived } from "./archive-folder.ts";
import type { ArchiveRow, ArchiveTable } from "./archive-table.ts";
import { archivedBody, blockReference, isArchived } from "./archived-body.ts";
import { blockText, textOfBlock } from "./block.ts";

type Log = { db: DatabaseSync; writer: BatchWriter; folder: string; table: ArchiveTable };

/**
 * Yields the number of events that are moved, after each block. A block is compared with the log before it replaces
 * anything. Goes on where an earlier run has ended. @throws ArchiveUnreadable when the file is not what was archived
 */
export function* moveToFile({ db, writer, folder, table }: Log, { file }: ArchiveRow): Generator<number> {
  const path = join(folder, file);
  let events = 0;
  for (const block of readIndex(path).blocks) {
    const batches = writer.between(block);
    if (!batches.some(isInFile)) {
      const joined = joinedParts(batches);
      if (!holds(path, block, blockText(joined)))
        throw new ArchiveUnreadable(
          `archive/${file} doesn't hold what the log has: nothing was removed from the log`,
        );
      const body = archivedBody({ file, ...block });
      inTransaction(db, () => {
        if (!table.has(file)) throw new ArchiveConflict(`archive/${file} was restored by another process`);
        writer.replace(block, { body, runs: joined.runs, bounds: boundsOf(batches) });
      });
    }
    events += block.events;
    yield events;
  }
}

/** `positions`: of the last events of batches in files. Yields as moveToFile does. @throws ArchiveUnreadable */
export function* moveToLog({ db, writer, folder }: Log, positions: readonly number[]): Generator<number> {
  let events = 0;
  for (const position of positions) {
    const range = { from: position, to: position };
    const batches = writer.between(range);
    for (const batch of batches.filter(isInFile)) {
      const { runs, parts } = readArchived(folder, blockReference(batch.body));
      const compressed = parts.map(({ count, body }) => ({ count, body: zstdCompressSync(body) }));
      const body = mergedBody(runs, compressed);
      inTransaction(db, () => writer.replace(range, { body, runs, bounds: boundsOf(batches) }));
      events += batch.count;
    }
    yield events;
  }
}

function isInFile({ body }: IndexedBatch): boolean {
  return isArchived(body);
}

function holds(path: string, { offset, bytes, sha256 }: BlockEntry, text: Buffer): boolean {
  const block = bytesAt(path, offset, bytes);
  return block !== undefined && isBlock(block, { sha256 }) && textOfBlock(block).equals(text);
}
