// The event log in one SQLite file, synchronous: transactions, expected revisions and idempotent appends.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inSnapshot, inTransaction, openReadOnly } from "../../connections/sqlite.ts";
import { idBounds } from "../event-columns.ts";
import { ArchiveUnreadable } from "../log-archive.ts";
import type { RecordedEvent } from "../port.ts";
import { archiveFolder } from "./archive/archive-folder.ts";
import { SqliteBatches } from "./batches.ts";
import { SqliteRows } from "./event-rows.ts";
import {
  type AppendOutcome,
  type AppendRequest,
  type BatchAppend,
  type ReadAllRequest,
  type ReadRequest,
  requestCount,
  requestIds,
} from "./log-requests.ts";
import { DecodedBatches, type DecodingOptions } from "./stored-batch.ts";

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

  /** `readOnly`: nothing in the file's folder changes. */
  constructor(file: string, options: DecodingOptions & { readOnly?: boolean | undefined } = {}) {
    const { readOnly } = options;
    const db = openLogFile(file, { readOnly });
    const decoded = new DecodedBatches(archiveFolder(file), options);
    // Where the tables are, creating them changes nothing.
    [this.#rows, this.#batches] = (readOnly ? inSnapshot : inTransaction)(db, () => {
      const stored = [new SqliteRows(db), new SqliteBatches(db, decoded)] as const;
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
      const end = { position: this.head() };
      const outcomes = requests.map((request) => this.#appendOne(request, end));
      if (requests.some((request) => "body" in request)) this.#mergeBatches();
      return outcomes;
    });
  }

  /** Part of the append's transaction, to save an fsync; a savepoint, so that a failure does not undo the appends. */
  #mergeBatches(): void {
    this.#db.exec("SAVEPOINT merge");
    try {
      this.#batches.writer.mergeTail();
      this.#db.exec("RELEASE merge");
    } catch {
      this.#db.exec("ROLLBACK TO merge; RELEASE merge");
    }
  }

  read(request: ReadRequest): RecordedEvent[] {
    const sign = request.backwards ? -1 : 1;
    const inOrder = (a: RecordedEvent, b: RecordedEvent) => sign * (a.revision - b.revision);
    return this.inSnapshot(() =>
      merged(this.#rows.read(request), this.#batches.read(request), request.limit, inOrder),
    );
  }

  readAll(request: ReadAllRequest): RecordedEvent[] {
    if (request.prefixes.length === 0) return [];
    return this.inSnapshot(() => {
      const rows = this.#rows.readAll(request);
      const inBatches = this.#batches.readAll(request);
      // A full page ends with its last batch, and a search may end before the last one: rows behind it are for the next read.
      const isEnded = request.mentions !== undefined || inBatches.length === request.limit;
      const end = isEnded ? inBatches.at(-1)?.position : undefined;
      const inRows = end === undefined ? rows : rows.filter(({ position }) => position < end);
      return merged(inRows, inBatches, request.limit, (a, b) => (a.position < b.position ? -1 : 1));
    });
  }

  /**
   * Runs all reads of `work` in one snapshot, as a commit between the queries would add a batch to the result without the
   * rows before it; a second time when an archive file can't be read, as its events may have been put back into the log since
   * the snapshot.
   */
  inSnapshot<T>(work: () => T): T {
    try {
      return inSnapshot(this.#db, work);
    } catch (error) {
      if (!(error instanceof ArchiveUnreadable) || this.#db.isTransaction) throw error;
      return inSnapshot(this.#db, work);
    }
  }

  /** Position of the last event; 0 when there is none. */
  head(): number {
    return Math.max(this.#rows.head(), this.#batches.head());
  }

  close(): void {
    this.#db.close();
  }

  /** `end`: the end of the log, which moves with each append of the transaction. */
  #appendOne(request: AppendRequest, end: { position: number }): AppendOutcome {
    const { stream, expected } = request;
    const last = this.#lastRevision(stream);
    const repeated = this.#repeated(request, last);
    if (repeated) return repeated;
    const asExpected = expected === "any" || last === (expected === "none" ? -1 : expected);
    if (asExpected) {
      const position = this.#insertAll(request, last, end.position);
      if (position !== undefined) {
        end.position = position;
        return { revision: last + requestCount(request), position };
      }
    }
    return { conflict: { stream, expected, actual: last < 0 ? "none" : last } };
  }

  /** The outcome of the first append, when the same events are already stored where this append would put them. */
  #repeated(request: AppendRequest, last: number): AppendOutcome | undefined {
    const { stream, expected } = request;
    if (expected !== "any") {
      const first = expected === "none" ? 0 : expected + 1;
      return last < first + requestCount(request) - 1 ? undefined : this.#stored(request, first);
    }
    const id = requestIds(request)[0] ?? "";
    const found = this.#rows.find(id) ?? this.#batches.find(stream, id);
    return found?.stream === stream ? this.#stored(request, found.revision) : undefined;
  }

  /** The outcome of an append of the same events that put the first one at this revision. */
  #stored(request: AppendRequest, first: number): AppendOutcome | undefined {
    const { stream } = request;
    const count = requestCount(request);
    const there = this.read({ stream, from: first, backwards: false, limit: count });
    if (requestIds(request).some((id, offset) => there[offset]?.id !== id)) return undefined;
    return { revision: first + count - 1, position: Number(there.at(-1)?.position) };
  }

  /** Returns the last position; undefined when an id is already in the log, which is a partial repetition. */
  #insertAll(request: AppendRequest, last: number, end: number): number | undefined {
    const { stream, recordedAt } = request;
    const first = { position: end + 1, revision: last + 1, recordedAt };
    const ids = () => requestIds(request);
    const bounds = "rows" in request ? idBounds(ids()) : request.bounds;
    if (this.#batches.holdsAny(ids, bounds)) return undefined;
    if ("rows" in request) return this.#rows.insert(stream, request.rows, first);
    if (hasDouble(request) || this.#rows.holdsAny(ids, bounds)) return undefined;
    return this.#batches.writer.insert(stream, request.body, { ...first, count: request.count, bounds });
  }

  #lastRevision(stream: string): number {
    return Math.max(this.#rows.lastRevision(stream), this.#batches.lastRevision(stream));
  }
}

/** `synchronous = FULL`: a commit is fsynced before it returns, so an acknowledged event survives a power failure. */
export function openLogFile(file: string, { readOnly = false } = {}): DatabaseSync {
  if (readOnly) return openReadOnly(file);
  mkdirSync(dirname(file), { recursive: true });
  const db = new DatabaseSync(file, { timeout: 5000 });
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -4096");
  return db;
}

/** In columns each event has a number of its own. */
function hasDouble({ ids, count }: BatchAppend): boolean {
  return !("times" in ids) && new Set(ids).size < count;
}

/** Merges two sorted lists; usually one of them is empty. */
function merged(
  rows: RecordedEvent[],
  more: RecordedEvent[],
  limit: number,
  compare: (a: RecordedEvent, b: RecordedEvent) => number,
): RecordedEvent[] {
  if (more.length === 0) return rows;
  if (rows.length === 0) return more;
  return [...rows, ...more].sort(compare).slice(0, limit);
}
