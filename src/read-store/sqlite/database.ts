// Opens the file of documents with the settings that its writers and readers share.
import { DatabaseSync } from "node:sqlite";

/** Pages in memory, for each connection: few, as each commit of another one empties them. */
const CACHE_MB = 8;

/** Opens or creates the file. @throws what SQLite throws */
export function openDatabase(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5000 });
  db.exec("PRAGMA journal_mode = WAL");
  // No fsync at each commit: documents of a commit that was lost are folded again from the checkpoint.
  db.exec("PRAGMA synchronous = NORMAL");
  // Fewer, larger WAL checkpoints, as a busy projector rewrites the same pages many times.
  db.exec("PRAGMA wal_autocheckpoint = 16000; PRAGMA journal_size_limit = 134217728");
  db.exec(`PRAGMA cache_size = -${CACHE_MB * 1024}`);
  db.exec(
    "CREATE TABLE IF NOT EXISTS checkpoints (name TEXT PRIMARY KEY, position TEXT NOT NULL, doc TEXT NOT NULL)",
  );
  return db;
}
