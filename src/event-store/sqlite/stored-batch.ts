// A stored event batch of the SQLite log: its row in the table, and its decoding into events.
import type { MakerOf } from "../object-makers.ts";
import type { RecordedEvent } from "../port.ts";
import { eventsOfBody } from "./batch-body.ts";
import type { EventPlace } from "./batch-runs.ts";
import { isMerged, type Part, partsOfMerged } from "./merged-body.ts";
import { positionTexts } from "./positions.ts";

export const BATCH_COLUMNS = "last_position, count, stream, last_revision, recorded_at, body";

export type StoredBatch = {
  last_position: number;
  count: number;
  stream: string;
  last_revision: number;
  recorded_at: string;
  body: Uint8Array;
};

/** `makerOf`: as of eventsOf. */
export function eventsOfBatch(batch: StoredBatch, makerOf: MakerOf): RecordedEvent[] {
  const { places, parts } = partsOf(batch);
  const events = parts.flatMap(({ body, count }) => eventsOfBody(body, count, makerOf));
  const textOf = positionTexts();
  return events.map(({ id, type, data, metadata }, n) => {
    const { stream, revision, position, recordedAt } = places[n] as EventPlace;
    return { id, type, data, metadata, stream, revision, position: textOf(position), recordedAt };
  });
}

/** The bodies of the batch's appends, and the place of each event. */
export function partsOf(batch: StoredBatch): { places: EventPlace[]; parts: Part[] } {
  if (isMerged(batch.body)) return partsOfMerged(batch.body);
  return { places: placesOfAppend(batch), parts: [batch] };
}

/** The places of the events in a batch of a single append, which are consecutive. */
function placesOfAppend({
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
