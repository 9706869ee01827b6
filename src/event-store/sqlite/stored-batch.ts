// A stored event batch of the SQLite log: its row in the table, and its decoding into events.
import type { NewEvent } from "../port.ts";
import { eventsOfBody } from "./batch-body.ts";
import type { EventPlace } from "./batch-runs.ts";
import type { EventRow } from "./log-requests.ts";
import { isMerged, rowsOfMerged } from "./merged-body.ts";

export const BATCH_COLUMNS = "last_position, count, stream, last_revision, recorded_at, body";

export type StoredBatch = {
  last_position: number;
  count: number;
  stream: string;
  last_revision: number;
  recorded_at: string;
  body: Uint8Array;
};

export function rowsOfBatch(batch: StoredBatch): EventRow[] {
  if (isMerged(batch.body)) return rowsOfMerged(batch.body);
  const events = eventsOfBody(batch.body, batch.count);
  return placesOfAppend(batch).map((place, index) => ({ ...place, ...(events[index] as NewEvent) }));
}

/** The places of the events in a batch of a single append, which are consecutive. */
export function placesOfAppend({
  count,
  stream,
  recorded_at: recordedAt,
  last_position,
  last_revision,
}: StoredBatch): EventPlace[] {
  const [position, revision] = [last_position - count + 1, last_revision - count + 1];
  return Array.from({ length: count }, (_, index) => ({
    ...{ position: position + index, stream, revision: revision + index, recordedAt },
  }));
}
