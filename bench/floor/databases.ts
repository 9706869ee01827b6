// The databases of the bare programs, with the settings of our embedded log and read store.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Each commit with an fsync. */
export function openLogDatabase(folder: string, name: string): DatabaseSync {
  const db = new DatabaseSync(join(folder, name), { timeout: 5_000 });
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -4096");
  return db;
}

/** Commits without one. */
export function openDocumentsDatabase(folder: string, name: string): DatabaseSync {
  const db = new DatabaseSync(join(folder, name), { timeout: 5_000 });
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  db.exec("PRAGMA wal_autocheckpoint = 16000; PRAGMA cache_size = -32768");
  return db;
}
