// Events of the SQLite log that are stored one per row: the `events` table and its statements.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { limitOf } from "../../connections/sqlite.ts";
import type { EventMetadata, RecordedEvent } from "../port.ts";
import type { IdBounds, NewRow, ReadAllRequest, ReadRequest } from "./log-requests.ts";
import { positionText } from "./positions.ts";
import { categoryOf, type PrefixStatement, prefixStatements } from "./prefixes.ts";

/** `category` first in the index: reading a prefix such as `link-` is one index range. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    category TEXT NOT NULL,
    stream TEXT NOT NULL,
    revision INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    metadata TEXT NOT NULL,
    recorded_at TEXT NOT NULL,
    UNIQUE (stream, revision)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS events_by_category ON events (category, position);
`;

const COLUMNS = "position, stream, revision, id, type, data, metadata, recorded_at";
const UNIQUE_VIOLATION = 2067;

type StoredRow = {
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

export class SqliteRows {
  readonly #db: DatabaseSync;
  readonly #lastRevision: StatementSync;
  readonly #byId: StatementSync;
  readonly #idsBetween: StatementSync;
  readonly #insert: StatementSync;
  readonly #head: StatementSync;
  readonly #forwards: StatementSync;
  readonly #backwards: StatementSync;
  readonly #ofPrefixes: (prefixes: readonly string[]) => PrefixStatement;
  readonly #changesOfPrefixes: (prefixes: readonly string[]) => PrefixStatement;

  /** Creates the table when missing; call it inside a transaction. */
  constructor(db: DatabaseSync) {
    db.exec(SCHEMA);
    this.#db = db;
    this.#lastRevision = db.prepare("SELECT max(revision) AS revision FROM events WHERE stream = ?");
    this.#byId = db.prepare("SELECT stream, revision FROM events WHERE id = ?");
    this.#idsBetween = db.prepare("SELECT id FROM events WHERE id BETWEEN ? AND ?");
    this.#insert = db.prepare(
      `INSERT INTO events (position, category, stream, revision, id, type, data, metadata, recorded_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#head = db.prepare("SELECT max(position) AS position FROM events");
    const source = { table: "events", columns: COLUMNS, position: "position" };
    this.#ofPrefixes = prefixStatements(db, source);
    this.#changesOfPrefixes = prefixStatements(db, { ...source, where: "revision > 0" });
    const ofStream = `SELECT ${COLUMNS} FROM events WHERE stream = ? AND revision`;
    this.#forwards = db.prepare(`${ofStream} >= ? ORDER BY revision ${limitOf("?")}`);
    this.#backwards = db.prepare(`${ofStream} <= ? ORDER BY revision DESC ${limitOf("?")}`);
  }

  /**
   * Inserts all rows or none. `position` and `revision` are those of the first row. Returns the last position;
   * undefined when one of the ids is already in the table.
   */
  insert(
    stream: string,
    rows: readonly NewRow[],
    { position, revision, recordedAt }: { position: number; revision: number; recordedAt: string },
  ): number | undefined {
    const category = categoryOf(stream);
    // A statement alone inserts its row or nothing.
    const needsSavepoint = rows.length > 1;
    if (needsSavepoint) this.#db.exec("SAVEPOINT append");
    try {
      for (const [i, { id, type, data, metadata }] of rows.entries())
        this.#insert.run(position + i, category, stream, revision + i, id, type, data, metadata, recordedAt);
      if (needsSavepoint) this.#db.exec("RELEASE append");
      return position + rows.length - 1;
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== UNIQUE_VIOLATION) throw error;
      if (needsSavepoint) this.#db.exec("ROLLBACK TO append; RELEASE append");
      return undefined;
    }
  }

  /** `bounds`: the smallest and the greatest of the ids. */
  holdsAny(ids: () => readonly string[], bounds: IdBounds): boolean {
    const between = this.#idsBetween.all(...bounds) as { id: string }[];
    if (between.length === 0) return false;
    const wanted = new Set(ids());
    return between.some(({ id }) => wanted.has(id));
  }

  find(id: string): { stream: string; revision: number } | undefined {
    return this.#byId.get(id) as { stream: string; revision: number } | undefined;
  }

  /** -1 when the stream has no row. */
  lastRevision(stream: string): number {
    return (this.#lastRevision.get(stream) as { revision: number | null }).revision ?? -1;
  }

  /** Position of the last row; 0 when there is none. */
  head(): number {
    return (this.#head.get() as { position: number | null }).position ?? 0;
  }

  read({ stream, from, backwards, limit }: ReadRequest): RecordedEvent[] {
    const statement = backwards ? this.#backwards : this.#forwards;
    return (statement.all(stream, from, limit) as StoredRow[]).map(recordedEvent);
  }

  readAll({ after, prefixes, limit, changesOnly }: ReadAllRequest): RecordedEvent[] {
    const { statement, bounds } = (changesOnly ? this.#changesOfPrefixes : this.#ofPrefixes)(prefixes);
    return (statement.all({ ...bounds, after, limit }) as StoredRow[]).map(recordedEvent);
  }
}

function recordedEvent(row: StoredRow): RecordedEvent {
  return {
    id: row.id,
    type: row.type,
    data: jsonOrText(row.data),
    metadata: jsonOrText(row.metadata) as EventMetadata,
    stream: row.stream,
    revision: row.revision,
    position: positionText(row.position),
    recordedAt: row.recorded_at,
  };
}

/** Damaged JSON stays text, which no schema accepts: so one event is named and at fault, and others can be read. */
function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
