// The secret store on SQLite, in a file of its own in which deleted values are overwritten.
import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { remoteMethods, threadClient } from "../../runtime/threads/thread-client.ts";
import { storeError } from "../connections/errors.ts";
import {
  GroupCommit,
  inTransaction,
  limitOf,
  openReadOnlyOrEmpty,
  unavailableOnError,
} from "../connections/sqlite.ts";
import { endOf, type SecretRecord, type SecretStore, type StoredSecret } from "./port.ts";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS secrets (key TEXT PRIMARY KEY, value TEXT NOT NULL, expires_at TEXT) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS secrets_by_expiry ON secrets (expires_at) WHERE expires_at IS NOT NULL;
`;

/** Rows that have not expired. */
const ALIVE = "(expires_at IS NULL OR expires_at > ?)";
const UPSERT = `INSERT INTO secrets (key, value, expires_at) VALUES (?, ?, ?)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`;
/** By the method of the store that runs each. */
const STATEMENTS = {
  get: `SELECT value FROM secrets WHERE key = ? AND ${ALIVE}`,
  list: `SELECT key, value FROM secrets WHERE key >= ? AND key < ? AND ${ALIVE} ORDER BY key`,
  putIfAbsent: `${UPSERT} WHERE expires_at <= ?`,
  putIfPresent: `UPDATE secrets SET value = ?, expires_at = ? WHERE key = ? AND ${ALIVE}`,
  put: UPSERT,
  delete: "DELETE FROM secrets WHERE key = ?",
  take: "DELETE FROM secrets WHERE key = ? RETURNING value, expires_at",
  sweep: "DELETE FROM secrets WHERE expires_at <= ?",
  page: `SELECT key, value, expires_at FROM secrets WHERE key > ? ORDER BY key ${limitOf("?")}`,
  replace: "UPDATE secrets SET value = ? WHERE key = ? AND value = ?",
  remove: "DELETE FROM secrets WHERE key = ? AND value = ?",
};
type Method = keyof typeof STATEMENTS;
const METHODS = Object.keys(STATEMENTS) as Method[];

/**
 * `offThread`: run in a thread of its own, started by the first call, so that the caller's event loop waits neither for
 * the disk nor for the write lock of another process; calls throw StoreUnavailable then. Default false: synchronous in
 * the caller's thread. `readOnly`: nothing in the file's folder changes; not with `offThread`.
 */
export async function openSqliteSecrets(
  file: string,
  { offThread = false, readOnly = false } = {},
): Promise<SecretStore> {
  if (!offThread || readOnly) return unavailableOnError(() => new SqliteSecrets(file, readOnly), file);
  const thread = threadClient({
    file: new URL("./sqlite-thread.ts", import.meta.url),
    name: "secrets",
    data: { file },
    toError: storeError,
  });
  const methods = remoteMethods<SecretStore, Method>(thread, "secrets", METHODS);
  return { ...methods, close: thread.close };
}

function openSecretsFile(file: string): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true });
  const db = new DatabaseSync(file, { timeout: 5000 });
  chmodSync(file, 0o600);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON");
  inTransaction(db, () => db.exec(SCHEMA));
  return db;
}

class SqliteSecrets implements SecretStore {
  readonly #db: DatabaseSync;
  readonly #statements: Record<Method, StatementSync>;
  readonly #writes: GroupCommit;
  #hasDeleted = false;

  /** The file gets mode 0600. With `secure_delete` SQLite overwrites deleted values with zeros. */
  constructor(file: string, readOnly: boolean) {
    const db = readOnly ? openReadOnlyOrEmpty(file, SCHEMA) : openSecretsFile(file);
    this.#db = db;
    this.#writes = new GroupCommit(db, () => this.#eraseDeleted());
    const prepared = METHODS.map((method) => [method, db.prepare(STATEMENTS[method])]);
    this.#statements = Object.fromEntries(prepared) as Record<Method, StatementSync>;
  }

  async get(key: string, now: Date): Promise<unknown | undefined> {
    this.#writes.flush();
    return this.#read(key, now);
  }

  async list(prefix: string, now: Date): Promise<{ key: string; value: unknown }[]> {
    this.#writes.flush();
    const rows = this.#statements.list.all(prefix, endOf(prefix), now.toISOString());
    return rows.map((row) => ({ key: String(row.key), value: JSON.parse(String(row.value)) }));
  }

  /** A single statement, so that of two processes with different values one wins. */
  async putIfAbsent(key: string, record: SecretRecord, now: Date): Promise<unknown> {
    const value = JSON.stringify(record.value);
    return await this.#writes.write(() => {
      const written = this.#statements.putIfAbsent.run(key, value, expiry(record), now.toISOString());
      return written.changes === 1 ? record.value : this.#read(key, now);
    });
  }

  async putIfPresent(key: string, record: SecretRecord, now: Date): Promise<boolean> {
    const value = JSON.stringify(record.value);
    return await this.#writes.write(
      () => this.#statements.putIfPresent.run(value, expiry(record), key, now.toISOString()).changes === 1,
    );
  }

  async put(key: string, record: SecretRecord): Promise<void> {
    const value = JSON.stringify(record.value);
    await this.#writes.write(() => this.#statements.put.run(key, value, expiry(record)));
  }

  async delete(key: string): Promise<void> {
    await this.#writes.write(() => this.#deleted(Number(this.#statements.delete.run(key).changes)));
  }

  async take(key: string, now: Date): Promise<unknown | undefined> {
    return await this.#writes.write(() => {
      const row = this.#statements.take.get(key) as { value: string; expires_at: string | null } | undefined;
      this.#deleted(row ? 1 : 0);
      const isAlive = row && (row.expires_at === null || row.expires_at > now.toISOString());
      return isAlive ? JSON.parse(row.value) : undefined;
    });
  }

  async sweep(now: Date): Promise<number> {
    return await this.#writes.write(() =>
      this.#deleted(Number(this.#statements.sweep.run(now.toISOString()).changes)),
    );
  }

  async page(after: string, limit: number): Promise<StoredSecret[]> {
    this.#writes.flush();
    return this.#statements.page.all(after, limit).map(({ key, value, expires_at }) => ({
      key: String(key),
      value: JSON.parse(String(value)),
      ...(expires_at === null ? {} : { expiresAt: String(expires_at) }),
    }));
  }

  async replace(secret: StoredSecret, value: unknown): Promise<boolean> {
    const [other, same] = [JSON.stringify(value), JSON.stringify(secret.value)];
    return await this.#writes.write(
      () => this.#deleted(Number(this.#statements.replace.run(other, secret.key, same).changes)) > 0,
    );
  }

  async remove(secret: StoredSecret): Promise<boolean> {
    const same = JSON.stringify(secret.value);
    return await this.#writes.write(
      () => this.#deleted(Number(this.#statements.remove.run(secret.key, same).changes)) > 0,
    );
  }

  /** Commits pending writes first. */
  async close(): Promise<void> {
    if (!this.#db.isOpen) return;
    this.#writes.flush();
    this.#db.close();
  }

  #deleted(count: number): number {
    this.#hasDeleted ||= count > 0;
    return count;
  }

  #read(key: string, now: Date): unknown | undefined {
    const row = this.#statements.get.get(key, now.toISOString()) as { value: string } | undefined;
    return row && JSON.parse(row.value);
  }

  /** Truncates the write-ahead log after a deletion, as it still contains the pages with the deleted values. */
  #eraseDeleted(): void {
    if (!this.#hasDeleted) return;
    this.#hasDeleted = false;
    this.#db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }
}

/** Normalised to one ISO 8601 form, as SQL compares times as text. */
function expiry({ expiresAt }: SecretRecord): string | null {
  return expiresAt === undefined ? null : new Date(expiresAt).toISOString();
}
