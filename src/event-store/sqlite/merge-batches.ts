// Merges consecutive small batches into one body: either compressed anew or with their bodies joined.
import { batchBody } from "./batch-body.ts";
import type { EventPlace } from "./batch-runs.ts";
import { isMerged, mergedBody } from "./merged-body.ts";
import { placesOfAppend, rowsOfBatch, type StoredBatch } from "./stored-batch.ts";

/** Batches with fewer events than this on average are compressed anew. */
const FEW = 16;

/** `first_id`, `last_id`: smallest and greatest id of the batch; null in logs of earlier versions. */
export type IndexedBatch = StoredBatch & { first_id: string | null; last_id: string | null };

/** `ids`: include the smallest and the greatest. */
export type MergedBatch = { body: Uint8Array; places: EventPlace[]; ids: string[] };

/** `batches`: consecutive ones of one category. */
export function mergeBatches(batches: readonly IndexedBatch[]): MergedBatch {
  return areSmall(batches) ? recompressed(batches) : joined(batches);
}

function areSmall(batches: readonly StoredBatch[]): boolean {
  const events = batches.reduce((sum, { count }) => sum + count, 0);
  return events < FEW * batches.length || batches.some(({ body }) => isMerged(body));
}

/** Compresses all events as if they had come in one append: smallest result, most CPU time. */
function recompressed(batches: readonly StoredBatch[]): MergedBatch {
  const rows = batches.flatMap(rowsOfBatch);
  const events = rows.map(({ id, type, data, metadata }) => ({ id, type, data, metadata }));
  const places = rows.map(({ stream, revision, position, recordedAt }) => ({
    ...{ stream, revision, position, recordedAt },
  }));
  const body = mergedBody(places, [{ count: rows.length, body: batchBody(events) }]);
  return { body, places, ids: events.map(({ id }) => id) };
}

/** Concatenates the bodies: they are compressed well enough, and joining saves the half-empty pages of each row. */
function joined(batches: readonly IndexedBatch[]): MergedBatch {
  const places = batches.flatMap(placesOfAppend);
  const ids = batches.flatMap(({ first_id, last_id }) => [first_id, last_id]).filter((id) => id !== null);
  return { body: mergedBody(places, batches), places, ids };
}
