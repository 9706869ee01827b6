// A stored event batch of the SQLite log: its row in the table, and its decoding into events.
import { eachEvent } from "../event-columns.ts";
import type { MakerOf } from "../object-makers.ts";
import type { RecordedEvent } from "../port.ts";
import { newEventsOfText, textOfBody } from "./batch-body.ts";
import type { PlacedRun } from "./batch-runs.ts";
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

/** The bodies of a batch's appends, and the places of their events in the same order. */
export type BatchParts = { runs: PlacedRun[]; parts: Part[] };

/**
 * Events share the objects of repeated values, so these must not be mutated. `makerOf`: as of eachEvent. `wanted`: leaves
 * out parts that don't have it in their JSON, at a fifth of the time.
 */
export function eventsOfParts(
  { runs, parts }: BatchParts,
  makerOf: MakerOf,
  wanted?: Buffer,
): RecordedEvent[] {
  const events: RecordedEvent[] = [];
  const textOf = positionTexts();
  let [run, inRun, n] = [runs[0] as PlacedRun, 0, 0];
  const nextRun = () => {
    inRun = 0;
    run = runs[++n] as PlacedRun;
  };
  const pass = (count: number) => {
    for (let left = count; left > 0; ) {
      if (inRun === run.count) nextRun();
      const passed = Math.min(left, run.count - inRun);
      inRun += passed;
      left -= passed;
    }
  };
  for (const { body, count } of parts) {
    const json = textOfBody(body);
    if (wanted && !json.includes(wanted)) {
      pass(count);
      continue;
    }
    eachEvent(newEventsOfText(json, count, makerOf), makerOf, (id, type, data, metadata) => {
      if (inRun === run.count) nextRun();
      const { stream, recordedAt } = run;
      const [revision, position] = [run.revision + inRun, textOf(run.position + inRun)];
      inRun++;
      events.push({ id, type, data, metadata, stream, revision, position, recordedAt });
    });
  }
  return events;
}

/** Of a batch whose body is in the log. */
export function partsOf(batch: StoredBatch): BatchParts {
  if (isMerged(batch.body)) return partsOfMerged(batch.body);
  const { count, stream, recorded_at: recordedAt, last_position, last_revision } = batch;
  const [position, revision] = [last_position - count + 1, last_revision - count + 1];
  return { runs: [{ position, stream, revision, recordedAt, count }], parts: [batch] };
}
