// What travels between a thread that asks the SQLite log and the one that owns it: plain values, JSON as text.
import {
  type AppendResult,
  type EventMetadata,
  type ExpectedRevision,
  type NewEvent,
  type Position,
  type RecordedEvent,
  RevisionConflict,
} from "./port.ts";

/** JSON is written and parsed by the asking thread, so that the log's thread does nothing but SQLite. */
export type EventRow = {
  position: number;
  stream: string;
  revision: number;
  id: string;
  type: string;
  data: string;
  metadata: string;
  recorded_at: string;
};

export type NewRow = Pick<EventRow, "id" | "type" | "data" | "metadata">;

export type AppendRequest = {
  stream: string;
  expected: ExpectedRevision;
  rows: readonly NewRow[];
  recordedAt: string;
};

export type ReadRequest = { stream: string; from: number | undefined; backwards: boolean; limit: number };
export type ReadAllRequest = { after: number; prefixes: readonly string[]; limit: number };

/** A conflict is an answer, not an exception: it crosses threads, and a group of appends goes on without it. */
export type AppendOutcome =
  | { revision: number; position: number }
  | { conflict: { stream: string; expected: ExpectedRevision; actual: number | "none" } };

export function newRow(event: NewEvent): NewRow {
  return {
    id: event.id,
    type: event.type,
    data: JSON.stringify(event.data),
    metadata: JSON.stringify(event.metadata),
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
    data: JSON.parse(row.data),
    metadata: JSON.parse(row.metadata) as EventMetadata,
    stream: row.stream,
    revision: row.revision,
    position: positionText(row.position),
    recordedAt: row.recorded_at,
  };
}

export function positionText(position: number): Position {
  return String(position).padStart(20, "0");
}
