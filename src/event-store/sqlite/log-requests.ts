// Requests to the SQLite log and their results; events are serialised here, outside the log's transaction.
import {
  type AppendResult,
  type ExpectedRevision,
  type NewEvent,
  type Position,
  type RecordedEvent,
  RevisionConflict,
} from "../port.ts";
import { batchBody } from "./batch-body.ts";
import type { EventPlace } from "./batch-runs.ts";
import { categoryOf } from "./prefixes.ts";

/** An event as read from a row or from a batch. */
export type EventRow = NewEvent & EventPlace;

/** `data` and `metadata` as JSON. */
export type NewRow = { id: string; type: string; data: string; metadata: string };

/** Has either `rows`, one per event, or the compressed `body` of a batch. */
export type AppendRequest = {
  stream: string;
  expected: ExpectedRevision;
  ids: readonly string[];
  rows: readonly NewRow[] | undefined;
  body: Uint8Array | undefined;
  recordedAt: string;
};

export type ReadRequest = { stream: string; from: number | undefined; backwards: boolean; limit: number };
export type ReadAllRequest = { after: number; prefixes: readonly string[]; limit: number };

/** A conflict is a value, not an exception: it is sent between threads, and does not roll back a group of appends. */
export type AppendOutcome =
  | { revision: number; position: number }
  | { conflict: { stream: string; expected: ExpectedRevision; actual: number | "none" } };

/**
 * `compressed`: categories whose appends at an exact revision are stored as a batch, whatever their size.
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
    body: isBatch ? batchBody(events) : undefined,
  };
}

function newRow({ id, type, data, metadata }: NewEvent): NewRow {
  return { id, type, data: JSON.stringify(data), metadata: JSON.stringify(metadata) };
}

/** @throws RevisionConflict when the outcome is a conflict */
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

/** Smallest and greatest id in text order, to query an index by range. */
export function idBounds(ids: readonly string[]): [first: string, last: string] {
  let [first = "", last = ""] = [ids[0], ids[0]];
  for (const id of ids) {
    if (id < first) first = id;
    if (id > last) last = id;
  }
  return [first, last];
}

export function positionText(position: number): Position {
  return String(position).padStart(20, "0");
}
