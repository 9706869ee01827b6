// The event log in one SQLite file, synchronous: transactions, expected revisions and idempotent appends.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inTransaction } from "../../connections/sqlite.ts";
import { SqliteBatches } from "./batches.ts";
import { SqliteRows } from "./event-rows.ts";
import type { AppendOutcome, AppendRequest, EventRow, ReadAllRequest, ReadRequest } from "./log-requests.ts";

/** For inspection with `sqlite3`; the service does not read it. */
const VIEW = `
  CREATE VIEW IF NOT EXISTS log AS
  SELECT position, stream, revision, type, recorded_at, data FROM events
  UNION ALL
  SELECT last_position, stream, last_revision, count || ' events', recorded_at,
    'compressed: linkledger audit events prints them' FROM segments
  ORDER BY 1;
`;

/** Each event is either a row of its own or part of a compressed batch; both share one sequence of positions. */
export class SqliteLog {
  readonly #db: DatabaseSync;
  readonly #rows: SqliteRows;
  readonly #batches: SqliteBatches;

  /** `synchronous = FULL`: a commit is fsynced before it returns, so an acknowledged event survives a power failure. */
  constructor(file: string) {
    mkdirSync(dirname(file), { recursive: true });
    const db = new DatabaseSync(file, { timeout: 5000 });
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -32000");
    [this.#rows, this.#batches] = inTransaction(db, () => {
      const stored = [new SqliteRows(db), new SqliteBatches(db)] as const;
      db.exec(VIEW);
      return stored;
    });
    this.#db = db;
  }

  /**
   * Runs all requests in one transaction, so that many appends need one fsync; each succeeds or conflicts on its own.
   * SQLite serialises write transactions, so commit order equals position order and readers never miss a position.
   */
  append(requests: readonly AppendRequest[]): AppendOutcome[] {
    return inTransaction(this.#db, () => {
      const outcomes = requests.map((request) => this.#appendOne(request));
      if (requests.some(({ body }) => body)) this.#mergeBatches();
      return outcomes;
    });
  }

  /** Part of the append's transaction, to save an fsync; a savepoint, so that a failure does not undo the appends. */
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
    const sign = request.backwards ? -1 : 1;
    return this.#inSnapshot(() =>
      merged(
        this.#rows.read(request),
        this.#batches.read(request),
        request.limit,
        (a, b) => sign * (a.revision - b.revision),
      ),
    );
  }

  readAll(request: ReadAllRequest): EventRow[] {
    if (request.prefixes.length === 0) return [];
    return this.#inSnapshot(() =>
      merged(
        this.#rows.readAll(request),
        this.#batches.readAll(request),
        request.limit,
        (a, b) => a.position - b.position,
      ),
    );
  }

  /** One transaction: a commit between the queries would add a batch to the result without the rows before it. */
  #inSnapshot<T>(work: () => T): T {
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
    return Math.max(this.#rows.head(), this.#batches.head());
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

  /** The outcome of the first append, when the same events are already stored where this append would put them. */
  #repeated({ stream, expected, ids }: AppendRequest, last: number): AppendOutcome | undefined {
    let first: number;
    if (expected === "any" || expected === "exists") {
      const id = ids[0] ?? "";
      const found = this.#rows.find(id) ?? this.#batches.find(stream, id);
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

  /** Returns the last position; undefined when an id is already in the log, which is a partial repetition. */
  #insertAll(request: AppendRequest, last: number): number | undefined {
    const { stream, ids, rows = [], body, recordedAt } = request;
    const first = { position: this.head() + 1, revision: last + 1, recordedAt };
    if (this.#batches.holdsAny(ids)) return undefined;
    if (!body) return this.#rows.insert(stream, rows, first);
    if (new Set(ids).size < ids.length || this.#rows.holdsAny(ids)) return undefined;
    return this.#batches.insert(stream, body, { ...first, ids });
  }

  #lastRevision(stream: string): number {
    return Math.max(this.#rows.lastRevision(stream), this.#batches.lastRevision(stream));
  }
}

/** Merges two sorted lists; usually one of them is empty. */
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
