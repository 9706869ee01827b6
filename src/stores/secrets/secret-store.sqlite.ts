// The secret store on SQLite, in a file of its own in which deleted values are overwritten.

import { chmodSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { makeFolder } from "../../runtime/private-folder.ts";
import type { Calls } from "../../runtime/threads/calls.ts";
import { remoteMethods } from "../../runtime/threads/remote.ts";
import {
  BLOCK_ON_LOCK,
  GroupCommit,
  inTransaction,
  limitOf,
  openReadOnlyOrEmpty,
  unavailableOnError,
} from "../connections/sqlite.ts";
import { refuseAltered } from "../connections/structure.sqlite.ts";
import { endOf, type SecretStore, type StoredSecret } from "./port.ts";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL, expires_at TEXT) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS secrets_by_expiry ON secrets (expires_at) WHERE expires_at IS NOT NULL;
`;
const STATEMENTS = {
  get: "SELECT * FROM secrets WHERE name = ?",
  page: `SELECT * FROM secrets WHERE name > ? AND name >= ? AND name < ? ORDER BY name ${limitOf("?")}`,
  insert: "INSERT INTO secrets VALUES ($name, $value, $expiresAt) ON CONFLICT DO NOTHING",
  swap: "UPDATE secrets SET value = $value, expires_at = $expiresAt WHERE name = $name AND value = $before",
  remove: "DELETE FROM secrets WHERE name = $name AND value = coalesce($value, value)",
  sweep: "DELETE FROM secrets WHERE expires_at <= ?",
};
type Statements = Record<keyof typeof STATEMENTS, StatementSync>;
const METHODS = ["get", "page", "swap", "remove", "sweep"] as const;

/** `readOnly`: nothing in the file's folder changes. @throws StoreUnavailable, StoreFailed */
export async function openSqliteSecrets(file: string, { readOnly = false } = {}): Promise<SecretStore> {
  return unavailableOnError(() => secretsIn(openFile(file, readOnly)), file);
}

/** Those that another thread serves under the name `secrets`. */
export function remoteSecrets(thread: Pick<Calls, "call">): SecretStore {
  const methods = remoteMethods<SecretStore, (typeof METHODS)[number]>(thread, "secrets", METHODS);
  return { ...methods, close: async () => undefined };
}

/** The file gets mode 0600. With `secure_delete` SQLite overwrites deleted values with zeros. */
function openFile(file: string, readOnly: boolean): DatabaseSync {
  if (readOnly) return openReadOnlyOrEmpty(file, SCHEMA);
  makeFolder(dirname(file));
  const db = new DatabaseSync(file, { timeout: 5000 });
  chmodSync(file, 0o600);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON");
  inTransaction(db, () => db.exec(SCHEMA));
  refuseAltered(db, SCHEMA);
  db.exec(BLOCK_ON_LOCK);
  return db;
}

function secretsIn(db: DatabaseSync): SecretStore {
  const prepared = Object.entries(STATEMENTS).map(([name, sql]) => [name, db.prepare(sql)]);
  const statements = Object.fromEntries(prepared) as Statements;
  let leavesBytes = false;
  // The write-ahead log still has the pages with values that were removed or replaced; while another process reads them, it
  // can't be emptied: the next commit tries again.
  const empty = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)");
  const writes = new GroupCommit(db, () => {
    if (leavesBytes) leavesBytes = empty.get()?.busy !== 0;
  });
  const gone = (changes: number | bigint): number => {
    leavesBytes ||= changes > 0;
    return Number(changes);
  };
  return {
    async get(name) {
      const row = statements.get.get(name);
      return row && secretOf(row);
    },
    async page(prefix, after, limit) {
      return statements.page.all(after, prefix, endOf(prefix), limit).map(secretOf);
    },
    swap: (before, after) =>
      writes.write(() => {
        const row = rowOf(after);
        if (!before) return statements.insert.run(row).changes === 1;
        return gone(statements.swap.run({ ...row, before: before.value }).changes) === 1;
      }),
    remove: (name, value = null as never) =>
      writes.write(() => gone(statements.remove.run({ name, value }).changes) === 1),
    sweep: (now) => writes.write(() => gone(statements.sweep.run(now.toISOString()).changes)),
    /** Commits pending writes first. */
    async close() {
      if (!db.isOpen) return;
      writes.close();
      db.close();
    },
  };
}

function rowOf({ name, value, expiresAt = null as never }: StoredSecret) {
  return { name, value, expiresAt };
}

function secretOf({ name, value, expires_at }: Record<string, unknown>): StoredSecret {
  const expiresAt = expires_at === null ? undefined : String(expires_at);
  return { name: String(name), value: String(value), expiresAt };
}
