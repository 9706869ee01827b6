// The event log in one SQLite file, synchronous: transactions, expected revisions, idempotent re-appends.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { SqliteBatches, textBounds } from "./batches.ts";
import { type PrefixStatement, prefixStatements } from "./prefix-statements.ts";
import { categoryOf } from "./prefixes.ts";
import {
  type AppendOutcome,
  type AppendRequest,
  type EventRow,
  eventRow,
  type ReadAllRequest,
  type ReadRequest,
  type StoredRow,
} from "./rows.ts";

const COLUMNS = "position, stream, revision, id, type, data, metadata, recorded_at";

/** Positions are counted on over rows and segments. `category` first: a prefix such as `link-` reads one index range. */
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

/** For people with `sqlite3`: nothing here reads it. */
const VIEW = `
  CREATE VIEW IF NOT EXISTS log AS
  SELECT position, stream, revision, type, recorded_at, data FROM events
  UNION ALL
  SELECT last_position, stream, last_revision, count || ' events', recorded_at,
    'compressed: linkledger audit events prints them' FROM segments
  ORDER BY 1;
`;

const UNIQUE_VIOLATION = 2067;

export class SqliteLog {
  readonly #db: DatabaseSync;
  readonly #last: StatementSync;
  readonly #byId: StatementSync;
  readonly #idsBetween: StatementSync;
  readonly #insert: StatementSync;
  readonly #head: StatementSync;
  readonly #forwards: StatementSync;
  readonly #backwards: StatementSync;
  readonly #ofPrefixes: (prefixes: readonly string[]) => PrefixStatement;
  readonly #batches: SqliteBatches;

  /** FULL: a commit is on the disk before it is answered, so an acknowledged event outlives the power. */
  constructor(file: string) {
    mkdirSync(dirname(file), { recursive: true });
    const db = new DatabaseSync(file, { timeout: 5000 });
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -32000");
    db.exec(`BEGIN IMMEDIATE; ${SCHEMA}`);
    this.#batches = new SqliteBatches(db);
    db.exec(`${VIEW} COMMIT`);
    this.#db = db;
    this.#last = db.prepare("SELECT max(revision) AS revision FROM events WHERE stream = ?");
    this.#byId = db.prepare("SELECT stream, revision FROM events WHERE id = ?");
    this.#idsBetween = db.prepare("SELECT id FROM events WHERE id BETWEEN ? AND ?");
    this.#insert = db.prepare(
      `INSERT INTO events (position, category, stream, revision, id, type, data, metadata, recorded_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#head = db.prepare("SELECT max(position) AS position FROM events");
    this.#ofPrefixes = prefixStatements(db, { table: "events", columns: COLUMNS, position: "position" });
    const ofStream = `SELECT ${COLUMNS} FROM events WHERE stream = ? AND revision`;
    this.#forwards = db.prepare(`${ofStream} >= ? ORDER BY revision LIMIT ?`);
    this.#backwards = db.prepare(`${ofStream} <= ? ORDER BY revision DESC LIMIT ?`);
  }

  /**
   * All requests in one transaction, so that many appends cost one fsync; each succeeds or conflicts by itself.
   * BEGIN IMMEDIATE makes commit order position order: a reader never sees a position appear behind it.
   */
  append(requests: readonly AppendRequest[]): AppendOutcome[] {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const outcomes = requests.map((request) => this.#appendOne(request));
      if (requests.some(({ segment }) => segment)) this.#mergeBatches();
      this.#db.exec("COMMIT");
      return outcomes;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  /** In the same transaction, so that it costs no fsync of its own; what fails here must not fail the appends. */
  #mergeBatches(): void {
    this.#db.exec("SAVEPOINT merge");
    try {
      this.#batches.mergeTail();
      this.#db.exec("RELEASE merge");
    } catch {
      this.#db.exec("ROLLBACK TO merge; RELEASE merge");
    }
  }

  read(request: ReadRequest): EventRow[] {
    const { stream, from, backwards, limit } = request;
    const start = from ?? (backwards ? Number.MAX_SAFE_INTEGER : 0);
    const sign = backwards ? -1 : 1;
    return this.#atOneMoment(() => {
      const rows = (backwards ? this.#backwards : this.#forwards).all(stream, start, limit) as StoredRow[];
      return merged(
        rows.map(eventRow),
        this.#batches.read(request),
        limit,
        (a, b) => sign * (a.revision - b.revision),
      );
    });
  }

  readAll(request: ReadAllRequest): EventRow[] {
    const { after, prefixes, limit } = request;
    if (prefixes.length === 0) return [];
    const { statement, bounds } = this.#ofPrefixes(prefixes);
    return this.#atOneMoment(() => {
      const rows = statement.all({ ...bounds, after, limit }) as StoredRow[];
      return merged(
        rows.map(eventRow),
        this.#batches.readAll(request),
        limit,
        (a, b) => a.position - b.position,
      );
    });
  }

  /** Between two questions others may commit: their single events would stay unseen behind a later segment. */
  #atOneMoment<T>(work: () => T): T {
    if (this.#db.isTransaction) return work();
    this.#db.exec("BEGIN");
    try {
      return work();
    } finally {
      this.#db.exec("COMMIT");
    }
  }

  /** Position of the last event; 0 when there is none. */
  head(): number {
    const { position } = this.#head.get() as { position: number | null };
    return Math.max(position ?? 0, this.#batches.head());
  }

  close(): void {
    this.#db.close();
  }

  #appendOne(request: AppendRequest): AppendOutcome {
    const { stream, expected } = request;
    const last = this.#lastRevision(stream);
    const repeated = this.#repeated(request, last);
    if (repeated) return repeated;
    const asExpected =
      expected === "any" ||
      (expected === "exists" ? last >= 0 : last === (expected === "none" ? -1 : expected));
    if (asExpected) {
      const position = this.#insertAll(request, last);
      if (position !== undefined) return { revision: last + request.ids.length, position };
    }
    return { conflict: { stream, expected, actual: last < 0 ? "none" : last } };
  }

  /** The first answer, when these very events already stand where this append would have put them. */
  #repeated({ stream, expected, ids }: AppendRequest, last: number): AppendOutcome | undefined {
    let first: number;
    if (expected === "any" || expected === "exists") {
      const id = ids[0] ?? "";
      const row = this.#byId.get(id) as { stream: string; revision: number } | undefined;
      const found = row ?? this.#batches.find(stream, id);
      if (found?.stream !== stream) return undefined;
      first = found.revision;
    } else {
      first = expected === "none" ? 0 : expected + 1;
    }
    if (last < first + ids.length - 1) return undefined;
    let position = 0;
    const there = this.read({ stream, from: first, backwards: false, limit: ids.length });
    for (const [offset, id] of ids.entries()) {
      if (there[offset]?.id !== id) return undefined;
      position = there[offset].position;
    }
    return { revision: first + ids.length - 1, position };
  }

  /** Undefined when one of the ids is already in the store: a partial repetition, which nobody can mean. */
  #insertAll(request: AppendRequest, last: number): number | undefined {
    const { stream, ids, rows = [], segment, recordedAt } = request;
    const position = this.head() + 1;
    if (this.#batches.holdsAny(ids)) return undefined;
    if (segment) {
      if (this.#holdsAny(ids)) return undefined;
      return this.#batches.insert(stream, segment, { ids, position, revision: last + 1, recordedAt });
    }
    const category = categoryOf(stream);
    this.#db.exec("SAVEPOINT append");
    try {
      for (const [i, { id, type, data, metadata }] of rows.entries()) {
        const at = [position + i, category, stream, last + 1 + i] as const;
        this.#insert.run(...at, id, type, data, metadata, recordedAt);
      }
      this.#db.exec("RELEASE append");
      return position + rows.length - 1;
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== UNIQUE_VIOLATION) throw error;
      this.#db.exec("ROLLBACK TO append; RELEASE append");
      return undefined;
    }
  }

  /** Whether one of the ids comes twice, or is that of a row. */
  #holdsAny(ids: readonly string[]): boolean {
    const wanted = new Set(ids);
    const near = this.#idsBetween.all(...textBounds(ids)) as { id: string }[];
    return wanted.size < ids.length || near.some(({ id }) => wanted.has(id));
  }

  #lastRevision(stream: string): number {
    const { revision } = this.#last.get(stream) as { revision: number | null };
    return Math.max(revision ?? -1, this.#batches.lastRevision(stream));
  }
}

/** Two ordered lists as one; most often one of them is empty. */
function merged(
  rows: EventRow[],
  more: EventRow[],
  limit: number,
  compare: (a: EventRow, b: EventRow) => number,
): EventRow[] {
  if (more.length === 0) return rows;
  if (rows.length === 0) return more;
  return [...rows, ...more].sort(compare).slice(0, limit);
}
