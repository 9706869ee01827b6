// Merges consecutive small batches into one body: their columns joined and compressed anew, or their bodies side by side.
import { countOf, idBounds } from "../event-columns.ts";
import { areAlike, joinedEvents } from "../join-columns.ts";
import type { MakerOf } from "../object-makers.ts";
import type { NewEvents } from "../port.ts";
import { batchBody, newEventsOfText, textOfBody } from "./batch-body.ts";
import type { PlacedRun } from "./batch-runs.ts";
import type { StoredBatch } from "./batch-schema.ts";
import type { IdBounds } from "./log-requests.ts";
import { isMerged, mergedBody, type Part } from "./merged-body.ts";
import { joinedParts } from "./stored-batch.ts";

/** Batches with fewer events than this on average are compressed anew: smallest result, most CPU time. */
const FEW = 32;

/** `first_id`, `last_id`: smallest and greatest id of the batch; null in logs of earlier versions. */
export type IndexedBatch = StoredBatch & { first_id: string | null; last_id: string | null };

/** `bounds`: smallest and greatest id; undefined when they are not known. */
export type MergedBatch = { body: Uint8Array; runs: PlacedRun[]; bounds: IdBounds | undefined };

/** `batches`: consecutive ones of one category. `makerOf`: as of eachEvent. */
export function mergeBatches(batches: readonly IndexedBatch[], makerOf: MakerOf): MergedBatch {
  const { runs, parts } = joinedParts(batches);
  const body = mergedBody(runs, areSmall(batches) ? recompressed(parts, makerOf) : parts);
  return { body, runs, bounds: boundsOf(batches) };
}

/** Smallest and greatest id of all; undefined when they are not known. */
export function boundsOf(batches: readonly IndexedBatch[]): IdBounds | undefined {
  const ids = batches.flatMap(({ first_id, last_id }) => [first_id, last_id]).filter((id) => id !== null);
  return ids.length > 0 ? idBounds(ids) : undefined;
}

function areSmall(batches: readonly StoredBatch[]): boolean {
  const events = batches.reduce((sum, { count }) => sum + count, 0);
  return events < FEW * batches.length || batches.some(({ body }) => isMerged(body));
}

/** As few parts as there are runs of the same form. */
function recompressed(parts: readonly Part[], makerOf: MakerOf): Part[] {
  const runs: NewEvents[][] = [];
  for (const { body, count } of parts) {
    const events = newEventsOfText(textOfBody(body), count, makerOf);
    const run = runs.at(-1);
    if (run?.[0] && areAlike(run[0], events)) run.push(events);
    else runs.push([events]);
  }
  return runs.map((run) => {
    const events = joinedEvents(run);
    return { count: countOf(events), body: batchBody(events) };
  });
}
