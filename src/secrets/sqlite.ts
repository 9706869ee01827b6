// Secrets of the embedded default, in a SQLite file of their own whose deleted bytes are overwritten.
import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { endOf, FORMER_SALTS, KEY_USE_KEPT_MS, KEY_USES } from "./earlier-versions.ts";
import type { SecretRecord, Secrets } from "./port.ts";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS secrets (key TEXT PRIMARY KEY, value TEXT NOT NULL, expires_at TEXT) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS secrets_by_expiry ON secrets (expires_at) WHERE expires_at IS NOT NULL;
`;

export async function openSqliteSecrets(file: string): Promise<Secrets> {
  return new SqliteSecrets(file);
}

class SqliteSecrets implements Secrets {
  readonly #db: DatabaseSync;
  readonly #get: StatementSync;
  readonly #list: StatementSync;
  readonly #putIfAbsent: StatementSync;
  readonly #putIfPresent: StatementSync;
  readonly #put: StatementSync;
  readonly #delete: StatementSync;
  readonly #take: StatementSync;
  readonly #sweep: StatementSync;

  /** Readable by the service's own user only. `secure_delete`: a removed value is zeroed, not merely unlinked. */
  constructor(file: string) {
    mkdirSync(dirname(file), { recursive: true });
    const db = new DatabaseSync(file, { timeout: 5000 });
    chmodSync(file, 0o600);
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON");
    db.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`);
    this.#db = db;
    this.#putRightWhatWasKept();
    this.#get = db.prepare(
      "SELECT value FROM secrets WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)",
    );
    this.#list = db.prepare(
      "SELECT key, value FROM secrets WHERE key >= ? AND key < ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY key",
    );
    this.#putIfAbsent = db.prepare(
      `INSERT INTO secrets (key, value, expires_at) VALUES (?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at
       WHERE expires_at <= ?`,
    );
    this.#putIfPresent = db.prepare(
      "UPDATE secrets SET value = ?, expires_at = ? WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)",
    );
    this.#put = db.prepare(
      `INSERT INTO secrets (key, value, expires_at) VALUES (?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`,
    );
    this.#delete = db.prepare("DELETE FROM secrets WHERE key = ?");
    this.#take = db.prepare("DELETE FROM secrets WHERE key = ? RETURNING value, expires_at");
    this.#sweep = db.prepare("DELETE FROM secrets WHERE expires_at <= ?");
  }

  async get(key: string, now: Date): Promise<unknown | undefined> {
    return this.#read(key, now);
  }

  async list(prefix: string, now: Date): Promise<{ key: string; value: unknown }[]> {
    const rows = this.#list.all(prefix, endOf(prefix), now.toISOString());
    return rows.map((row) => ({ key: String(row.key), value: JSON.parse(String(row.value)) }));
  }

  /** One statement decides who was first, so that two processes never end with two different values. */
  async putIfAbsent(key: string, record: SecretRecord, now: Date): Promise<unknown> {
    const written = this.#putIfAbsent.run(
      key,
      JSON.stringify(record.value),
      expiry(record),
      now.toISOString(),
    );
    return written.changes === 1 ? record.value : this.#read(key, now);
  }

  async putIfPresent(key: string, record: SecretRecord, now: Date): Promise<boolean> {
    const value = JSON.stringify(record.value);
    return this.#putIfPresent.run(value, expiry(record), key, now.toISOString()).changes === 1;
  }

  async put(key: string, record: SecretRecord): Promise<void> {
    this.#put.run(key, JSON.stringify(record.value), expiry(record));
  }

  async delete(key: string): Promise<void> {
    if (this.#delete.run(key).changes > 0) this.#truncateLog();
  }

  async take(key: string, now: Date): Promise<unknown | undefined> {
    const row = this.#take.get(key) as { value: string; expires_at: string | null } | undefined;
    if (!row) return undefined;
    this.#truncateLog();
    return row.expires_at !== null && row.expires_at <= now.toISOString() ? undefined : JSON.parse(row.value);
  }

  async sweep(now: Date): Promise<number> {
    const destroyed = Number(this.#sweep.run(now.toISOString()).changes);
    if (destroyed > 0) this.#truncateLog();
    return destroyed;
  }

  async close(): Promise<void> {
    if (this.#db.isOpen) this.#db.close();
  }

  #read(key: string, now: Date): unknown | undefined {
    const row = this.#get.get(key, now.toISOString()) as { value: string } | undefined;
    return row && JSON.parse(row.value);
  }

  #putRightWhatWasKept(): void {
    const salts = this.#db.prepare("DELETE FROM secrets WHERE key >= ? AND key < ?");
    if (salts.run(FORMER_SALTS, endOf(FORMER_SALTS)).changes > 0) this.#truncateLog();
    const uses = "UPDATE secrets SET expires_at = ? WHERE key >= ? AND key < ? AND expires_at IS NULL";
    const end = new Date(Date.now() + KEY_USE_KEPT_MS).toISOString();
    this.#db.prepare(uses).run(end, KEY_USES, endOf(KEY_USES));
  }

  /** The write-ahead log still holds the old page until it is written back and cut to nothing. */
  #truncateLog(): void {
    this.#db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }
}

/** One spelling, so that times compare as text. */
function expiry({ expiresAt }: SecretRecord): string | null {
  return expiresAt === undefined ? null : new Date(expiresAt).toISOString();
}
