// Tables of the event batches in the SQLite log. Their SQL names say "segment", the former word for an event batch.
import type { DatabaseSync } from "node:sqlite";

/**
 * A row is a batch of one append, or of several merged appends, with events of one category. No other batch of the
 * category has a position between its first and its last. `stream` and `last_revision` are those of its last event;
 * `segment_streams` has the other streams of a merged batch. `first_id`, `last_id`: smallest and greatest id in text
 * order, null in logs of earlier versions. `body`: see batch-body.ts and merged-body.ts.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS segments (
    last_position INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    category TEXT NOT NULL,
    stream TEXT NOT NULL,
    last_revision INTEGER NOT NULL,
    recorded_at TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (stream, last_revision)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS segments_by_category ON segments (category, last_position);
`;
const SCHEMA_2 = `
  ALTER TABLE segments ADD COLUMN first_id TEXT;
  ALTER TABLE segments ADD COLUMN last_id TEXT;
  CREATE INDEX segments_by_id ON segments (last_id, first_id);
  CREATE TABLE segment_streams (
    stream TEXT NOT NULL,
    last_revision INTEGER NOT NULL,
    last_position INTEGER NOT NULL,
    PRIMARY KEY (stream, last_revision)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * Files that hold events in the log's place; the body of their batches says where in the file (archived-body.ts).
 * `moved`: 0 as long as some of the events lie in both.
 */
const ARCHIVES = `
  CREATE TABLE IF NOT EXISTS archives (
    file TEXT PRIMARY KEY,
    category TEXT NOT NULL,
    day TEXT NOT NULL,
    first_position INTEGER NOT NULL,
    last_position INTEGER NOT NULL,
    events INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    moved INTEGER NOT NULL
  ) STRICT;
`;

/** Creates what is missing, also in a log of an earlier version; call it inside a transaction. */
export function createBatchTables(db: DatabaseSync): void {
  db.exec(SCHEMA + ARCHIVES);
  const columns = db.prepare("SELECT name FROM pragma_table_info('segments')").all();
  if (!columns.some(({ name }) => name === "first_id")) db.exec(SCHEMA_2);
}

export const BATCH_COLUMNS = "last_position, count, stream, last_revision, recorded_at, body";

export type StoredBatch = {
  last_position: number;
  count: number;
  stream: string;
  last_revision: number;
  recorded_at: string;
  body: Uint8Array;
};
