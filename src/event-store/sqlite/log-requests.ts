// Requests to the SQLite log and their results; events are serialised here, outside the log's transaction.
import { countOf, idBoundsOf, idsOf, isColumns } from "../event-columns.ts";
import {
  type AppendResult,
  type EventColumns,
  type ExpectedRevision,
  type NewEvent,
  type NewEvents,
  type ReadAllOptions,
  RevisionConflict,
} from "../port.ts";
import { batchBody } from "./batch-body.ts";
import { positionText } from "./positions.ts";
import { categoryOf } from "./prefixes.ts";

/** `data` and `metadata` as JSON. */
export type NewRow = { id: string; type: string; data: string; metadata: string };

export type IdBounds = readonly [first: string, last: string];

type Append = { stream: string; expected: ExpectedRevision; recordedAt: string };

/** One row per event. */
type RowsAppend = Append & { rows: readonly NewRow[] };

/** The compressed body of a batch. `ids`: as a list, or in columns; `bounds`: the smallest and the greatest of them. */
export type BatchAppend = Append & {
  body: Uint8Array;
  count: number;
  ids: readonly string[] | EventColumns;
  bounds: IdBounds;
};

export type AppendRequest = RowsAppend | BatchAppend;

export type ReadRequest = { stream: string; from: number; backwards: boolean; limit: number };
export type ReadAllRequest = Omit<ReadAllOptions, "after" | "from"> & { after: number };

/** A conflict is a value, not an exception: it is sent between threads, and does not roll back a group of appends. */
export type AppendOutcome =
  | { revision: number; position: number }
  | { conflict: { stream: string; expected: ExpectedRevision; actual: number | "none" } };

/**
 * A batch in columns is stored as such. `compressed`: categories whose events are stored as a batch too, if they are
 * appended at an exact revision, whatever their number.
 * @throws TypeError when data or metadata are not plain JSON
 */
export function appendRequest(
  stream: string,
  expected: ExpectedRevision,
  events: NewEvents,
  { recordedAt, compressed }: { recordedAt: string; compressed: readonly string[] },
): AppendRequest {
  const common = { stream, expected, recordedAt };
  const isBatch = isColumns(events) || (expected !== "any" && compressed.includes(categoryOf(stream)));
  if (!isBatch) return { ...common, rows: events.map(newRow) };
  const ids = isColumns(events) ? events : idsOf(events);
  return { ...common, body: batchBody(events), count: countOf(events), ids, bounds: idBoundsOf(events) };
}

/** The ids of the request's events, in order. */
export function requestIds(request: AppendRequest): readonly string[] {
  if ("rows" in request) return request.rows.map(({ id }) => id);
  return "times" in request.ids ? idsOf(request.ids) : request.ids;
}

/** Number of the request's events. */
export function requestCount(request: AppendRequest): number {
  return "rows" in request ? request.rows.length : request.count;
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
