// What is asked of the SQLite log and what it answers: an append's JSON is written before, outside its transaction.
import {
  type AppendResult,
  type EventMetadata,
  type ExpectedRevision,
  type NewEvent,
  type Position,
  type RecordedEvent,
  RevisionConflict,
} from "../port.ts";
import { batchBody } from "./batch-body.ts";
import type { EventPlace } from "./batch-runs.ts";
import { categoryOf } from "./prefixes.ts";

/** An event as its row holds it. */
export type StoredRow = {
  position: number;
  stream: string;
  revision: number;
  id: string;
  type: string;
  /** JSON, as is `metadata`. */
  data: string;
  metadata: string;
  recorded_at: string;
};

/** Of a row or of a segment. */
export type EventRow = NewEvent & EventPlace;

export type NewRow = Pick<StoredRow, "id" | "type" | "data" | "metadata">;

/** Either a row for each event or the body of a segment. */
export type AppendRequest = {
  stream: string;
  expected: ExpectedRevision;
  ids: readonly string[];
  rows: readonly NewRow[] | undefined;
  segment: Uint8Array | undefined;
  recordedAt: string;
};

export type ReadRequest = { stream: string; from: number | undefined; backwards: boolean; limit: number };
export type ReadAllRequest = { after: number; prefixes: readonly string[]; limit: number };

/** A conflict is an answer, not an exception: it crosses threads, and a group of appends goes on without it. */
export type AppendOutcome =
  | { revision: number; position: number }
  | { conflict: { stream: string; expected: ExpectedRevision; actual: number | "none" } };

/**
 * `compressed`: categories of which an append at an exact revision becomes a segment, whatever its size.
 * @throws TypeError when data or metadata are not plain JSON
 */
export function appendRequest(
  stream: string,
  expected: ExpectedRevision,
  events: readonly NewEvent[],
  { recordedAt, compressed }: { recordedAt: string; compressed: readonly string[] },
): AppendRequest {
  const isExact = expected !== "any" && expected !== "exists";
  const isBatch = isExact && compressed.includes(categoryOf(stream));
  return {
    ...{ stream, expected, recordedAt },
    ids: events.map(({ id }) => id),
    rows: isBatch ? undefined : events.map(newRow),
    segment: isBatch ? batchBody(events) : undefined,
  };
}

function newRow({ id, type, data, metadata }: NewEvent): NewRow {
  return { id, type, data: JSON.stringify(data), metadata: JSON.stringify(metadata) };
}

export function eventRow({ data, metadata, recorded_at, ...rest }: StoredRow): EventRow {
  return {
    ...rest,
    data: JSON.parse(data),
    metadata: JSON.parse(metadata) as EventMetadata,
    recordedAt: recorded_at,
  };
}

/** @throws RevisionConflict when that is what the log answered */
export function appendResult(outcome: AppendOutcome): AppendResult {
  if ("conflict" in outcome) {
    const { stream, expected, actual } = outcome.conflict;
    throw new RevisionConflict(stream, expected, actual);
  }
  return { revision: outcome.revision, position: positionText(outcome.position) };
}

export function recordedEvent(row: EventRow): RecordedEvent {
  return {
    id: row.id,
    type: row.type,
    data: row.data,
    metadata: row.metadata,
    stream: row.stream,
    revision: row.revision,
    position: positionText(row.position),
    recordedAt: row.recordedAt,
  };
}

export function positionText(position: number): Position {
  return String(position).padStart(20, "0");
}
