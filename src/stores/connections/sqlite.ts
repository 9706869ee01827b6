// Transactions and errors of the SQLite adapters, and group commit, so that writes at the same time share one fsync.
import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { DomainError, messageOf } from "../../runtime/errors.ts";
import { storeError } from "./errors.ts";

/**
 * `LIMIT` with a parameter, such as `?`, in an expression: SQLite plans by the value of a bare parameter there, and so
 * prepares the whole statement again whenever it is bound, which takes longer than a search by an index.
 */
export function limitOf(parameter: string): string {
  return `LIMIT ${parameter} + 0`;
}

/**
 * Runs work in the caller's thread that fails as a call to another thread does. `opened`: the file, which the error names.
 * @throws StoreUnavailable, StoreFailed; errors of our own unchanged
 */
export function unavailableOnError<T>(work: () => T, opened?: string): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof DomainError) throw cause;
    throw storeError(opened ? `${opened}: ${String(cause)}` : String(cause), cause);
  }
}

/**
 * Opens a file so that nothing in its folder changes, also beside a running service and in a folder that can't be written.
 * Only a write-ahead log without its index, as of a copy that left that out, makes SQLite write the index there.
 * @throws SQLite's error when there is no file, or when such an index can't be written
 */
export function openReadOnly(file: string): DatabaseSync {
  const url = pathToFileURL(file);
  const logBytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size;
  // The index of the log is read as it is; where no process uses it, SQLite makes one in memory.
  if (logBytes !== undefined && existsSync(`${file}-shm`)) url.searchParams.set("readonly_shm", "1");
  // Whoever has the file open has both beside it; without them SQLite would make them before it reads.
  else if (!logBytes) url.searchParams.set("immutable", "1");
  return new DatabaseSync(url, { readOnly: true, timeout: 5000 });
}

/** `openReadOnly`, or where there is no file an empty database of the caller's own, made by `schema`. @throws SQLite's error */
export function openReadOnlyOrEmpty(file: string, schema: string): DatabaseSync {
  if (existsSync(file)) return openReadOnly(file);
  const db = new DatabaseSync("");
  db.exec(schema);
  return db;
}

/** Runs `work` in a write transaction, rolled back when `work` or the commit throws. @throws what they throw */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/**
 * Runs reads in one transaction, or in the one that is open: they see one state of the file, and lock it once, by system
 * calls that take two thirds of the time of a lookup alone. @throws what `read` throws
 */
export function inSnapshot<T>(db: DatabaseSync, read: () => T): T {
  if (db.isTransaction) return read();
  db.exec("BEGIN");
  try {
    return read();
  } finally {
    // After a page that can't be read SQLite has ended it already.
    if (db.isTransaction) db.exec("ROLLBACK");
  }
}

/** `until`: when it is rejected if the file is still locked, by performance.now(). */
type Pending = {
  work: () => unknown;
  until: number;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
};

const LOCK_WITHIN_MS = 5_000;
const TRY_AGAIN_MS = 20;

/** How long a write blocks its thread at most while another process writes; then it waits in GroupCommit. */
export const BLOCK_ON_LOCK = "PRAGMA busy_timeout = 100";

/** Collects the writes of one turn of the event loop into one transaction; when it fails, all of them are rejected. */
export class GroupCommit {
  readonly #db: DatabaseSync;
  readonly #file: string | undefined;
  readonly #onCommit: () => void;
  #pending: Pending[] = [];

  /** `onCommit`: called after each commit, before its writes resolve. */
  constructor(db: DatabaseSync, onCommit: () => void = () => undefined) {
    this.#db = db;
    this.#file = db.location() ?? undefined;
    this.#onCommit = onCommit;
  }

  /**
   * Resolves with the result of `work` after the commit. While another connection has the file locked it is tried again, for
   * at most `lockWithinMs`. @throws as unavailableOnError
   */
  write<T>(work: () => T, lockWithinMs = LOCK_WITHIN_MS): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#pending.length === 0) setImmediate(() => this.flush());
      const until = performance.now() + lockWithinMs;
      this.#pending.push({ work, until, resolve: (result) => resolve(result as T), reject });
    });
  }

  /** Commits pending writes now, so that a read sees them. */
  flush(): void {
    const pending = this.#pending;
    this.#pending = [];
    if (pending.length === 0) return;
    try {
      const commit = () => inTransaction(this.#db, () => pending.map(({ work }) => work()));
      const results = unavailableOnError(commit, this.#file);
      this.#onCommit();
      for (const [n, { resolve }] of pending.entries()) resolve(results[n]);
    } catch (error) {
      this.#fail(pending, error);
    }
  }

  /** The last flush: what the locked file doesn't take now is rejected. */
  close(): void {
    for (const write of this.#pending) write.until = 0;
    this.flush();
  }

  #fail(pending: readonly Pending[], error: unknown): void {
    const triedAt = /database is locked/.test(messageOf(error))
      ? performance.now()
      : Number.POSITIVE_INFINITY;
    const [waiting, late] = [
      pending.filter(({ until }) => until > triedAt),
      pending.filter(({ until }) => until <= triedAt),
    ];
    for (const { reject } of late) reject(error);
    if (waiting.length === 0) return;
    this.#pending = waiting;
    setTimeout(() => this.flush(), TRY_AGAIN_MS);
  }
}
