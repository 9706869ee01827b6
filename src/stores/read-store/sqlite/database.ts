// Opens the file of documents with the settings that its writers and readers share.
import { DatabaseSync } from "node:sqlite";
import { openReadOnlyOrEmpty } from "../../connections/sqlite.ts";
import { refuseAltered } from "../../connections/structure.sqlite.ts";

/** Pages in memory, for each connection: few, as each commit of another one empties them. */
const CACHE_MB = 8;

const CHECKPOINTS =
  "CREATE TABLE IF NOT EXISTS checkpoints (name TEXT PRIMARY KEY, position TEXT NOT NULL, doc TEXT NOT NULL)";

/** Opens or creates the file. @throws file_altered for one with a trigger or a view, and what SQLite throws */
export function openDatabase(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5000 });
  db.exec("PRAGMA journal_mode = WAL");
  // No fsync at each commit: documents of a commit that was lost are folded again from the checkpoint.
  db.exec("PRAGMA synchronous = NORMAL");
  // Fewer, larger WAL checkpoints, as a busy projector rewrites the same pages many times.
  db.exec("PRAGMA wal_autocheckpoint = 16000; PRAGMA journal_size_limit = 134217728");
  db.exec(`PRAGMA cache_size = -${CACHE_MB * 1024}`);
  db.exec(CHECKPOINTS);
  refuseAltered(db);
  return db;
}

/** Without changing anything; what is missing is made in memory, where it is empty. @throws what SQLite throws */
export function openUnchanged(file: string): DatabaseSync {
  const db = openReadOnlyOrEmpty(file, CHECKPOINTS);
  db.exec("PRAGMA temp_store = MEMORY");
  createMissing(db, "checkpoints", CHECKPOINTS);
  return db;
}

/** `sql` creates the table; for a file that must not change. */
export function createMissing(db: DatabaseSync, table: string, sql: string): void {
  const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table);
  if (!isThere) db.exec(sql.replace("CREATE TABLE", "CREATE TEMP TABLE"));
}
