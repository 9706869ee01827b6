// Requests to the SQLite log and their results; events are serialised here, outside the log's transaction.
import { countOf, idBoundsOf, idsOf, isColumns } from "../event-columns.ts";
import {
  type AppendResult,
  type EventColumns,
  type ExpectedRevision,
  type NewEvent,
  type NewEvents,
  RevisionConflict,
} from "../port.ts";
import { batchBody } from "./batch-body.ts";
import { positionText } from "./positions.ts";
import { categoryOf } from "./prefixes.ts";

/** `data` and `metadata` as JSON. */
export type NewRow = { id: string; type: string; data: string; metadata: string };

export type IdBounds = readonly [first: string, last: string];

/**
 * Has either `rows`, one per event, or the compressed `body` of a batch. `ids`: as a list, or in columns. `bounds`: the
 * smallest and the greatest id.
 */
export type AppendRequest = {
  stream: string;
  expected: ExpectedRevision;
  count: number;
  ids: readonly string[] | EventColumns;
  bounds: IdBounds;
  rows: readonly NewRow[] | undefined;
  body: Uint8Array | undefined;
  recordedAt: string;
};

export type ReadRequest = { stream: string; from: number | undefined; backwards: boolean; limit: number };
/** `mentions` and `changesOnly`: as in ReadAllOptions. */
export type ReadAllRequest = {
  after: number;
  prefixes: readonly string[];
  limit: number;
  mentions?: string | undefined;
  changesOnly?: boolean | undefined;
};

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
  const common = { stream, expected, recordedAt, count: countOf(events), bounds: idBoundsOf(events) };
  if (isColumns(events)) return { ...common, ids: events, rows: undefined, body: batchBody(events) };
  const isExact = expected !== "any" && expected !== "exists";
  const isBatch = isExact && compressed.includes(categoryOf(stream));
  return {
    ...common,
    ids: idsOf(events),
    rows: isBatch ? undefined : events.map(newRow),
    body: isBatch ? batchBody(events) : undefined,
  };
}

/** The ids of the request's events, in order. */
export function requestIds({ ids }: AppendRequest): readonly string[] {
  return "times" in ids ? idsOf(ids) : ids;
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
