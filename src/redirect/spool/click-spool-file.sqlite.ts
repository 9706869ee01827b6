// Creates and locks the SQLite file of a click spool: the lock shows whether the owning process is still running.
import { chmodSync, closeSync, fsyncSync, openSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inTransaction } from "../../stores/connections/sqlite.ts";

/** `expected` -1: the stream must not exist. */
const SCHEMA = `
  CREATE TABLE appends (
    number INTEGER PRIMARY KEY,
    stream TEXT NOT NULL,
    expected INTEGER NOT NULL,
    clicks INTEGER NOT NULL,
    events TEXT NOT NULL
  ) STRICT;
  PRAGMA user_version = 1;
`;
/** Other processes that look for orphaned spools lock a new file only while they read its version. */
const LOCK_WITHIN_MS = 5_000;
/** A file without a schema that is older than this belongs to a process that crashed while creating it. */
const NEW_FILE_MS = 60_000;
const SQLITE_BUSY = 5;
const SQLITE_CANTOPEN = 14;

/** Mode 0600; the folder is fsynced, so that the file survives a power failure. */
export function newSpoolFile(file: string): DatabaseSync {
  const db = openLocked(file, LOCK_WITHIN_MS);
  try {
    chmodSync(file, 0o600);
    inTransaction(db, () => db.exec(SCHEMA));
    const folder = openSync(dirname(file), "r");
    fsyncSync(folder);
    closeSync(folder);
    return db;
  } catch (error) {
    // Else its lock would be in the way of the next try.
    db.close();
    removeSpoolFile(file);
    throw error;
  }
}

/** Opens and locks the file; undefined while a running process holds or creates it. */
export function orphanedSpoolFile(file: string): DatabaseSync | undefined {
  let db: DatabaseSync | undefined;
  try {
    db = openLocked(file, 0);
    const { user_version: version } = db.prepare("PRAGMA user_version").get() as { user_version: number };
    if (version === 1) return db;
    db.close();
    if (Date.now() - statSync(file).mtimeMs > NEW_FILE_MS) removeSpoolFile(file);
  } catch (error) {
    if (db?.isOpen) db.close();
    if (!isLockedOrGone(error)) throw error;
  }
  return undefined;
}

export function removeSpoolFile(file: string): void {
  for (const part of [file, `${file}-wal`]) rmSync(part, { force: true });
}

/** Locked exclusively until it is closed; the kernel releases the lock when the process ends, also after a crash. */
function openLocked(file: string, timeout: number): DatabaseSync {
  const db = new DatabaseSync(file, { timeout });
  try {
    db.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function isLockedOrGone(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: number; code?: string };
  return code === "ENOENT" || ((errcode ?? 0) & 0xff) === SQLITE_BUSY || errcode === SQLITE_CANTOPEN;
}
