// Counts in a SQLite file of their own. They outlive the process, and a kill: what is written is with the operating system.
// Nothing is ever synced to the disk, and the counts of one turn of the event loop share a transaction, so that a count costs
// the caller's thread some ten microseconds and no wait; a power failure may cost the last ones, or the file.
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../../runtime/errors.ts";
import { CoordinationUnavailable } from "../../connections/errors.ts";
import { GroupCommit, inTransaction, limitOf, unavailableOnError } from "../../connections/sqlite.ts";
import { refuseAltered } from "../../connections/structure.sqlite.ts";
import { type Count, type Counts, counted, hasChanged } from "../counts.ts";

export const COUNTS_SCHEMA = `
  CREATE TABLE IF NOT EXISTS counts (name TEXT PRIMARY KEY, used INTEGER NOT NULL, ends_at INTEGER NOT NULL)
    STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS counts_by_end ON counts (ends_at);
`;
/** 256 MB, as strangers can make counts begin: what finds no room counts as unavailable. */
const MOST_PAGES = 65_536;
/** For the write of another process, which blocks the caller's thread; then a count is unavailable. */
const BUSY_MS = 100;
const NO_LONGER = 0;
/** Of those that have ended, when one begins. */
const SWEPT = 4;

/**
 * `hide`: hashes the name that a count has in the file, as it may hold an address.
 * @throws StoreUnavailable for a file that can't be opened
 */
export function openSqliteCounts(file: string, hide: (name: string) => string): Counts {
  const db = unavailableOnError(() => opened(file), file);
  const get = db.prepare("SELECT used, ends_at AS endsAt FROM counts WHERE name = ?");
  const put = db.prepare("INSERT OR REPLACE INTO counts VALUES (?, ?, ?)");
  const sweep = db.prepare(
    `DELETE FROM counts WHERE name IN (SELECT name FROM counts WHERE ends_at <= ? ORDER BY ends_at ${limitOf("?")})`,
  );
  const steps = new GroupCommit(db);
  return {
    async count(subject, now, counting) {
      const name = hide(subject);
      const step = () => {
        const kept = get.get(name) as Count | undefined;
        const next = counted(kept, now, counting);
        if (!next || !hasChanged(kept, next, now, counting)) return next;
        if (!kept) sweep.run(now, SWEPT);
        put.run(name, next.used, next.endsAt);
        return next;
      };
      return await steps.write(step, NO_LONGER).catch((error: unknown) => {
        throw new CoordinationUnavailable(`${file}: ${messageOf(error)}`, { cause: error });
      });
    },
    async close() {
      steps.close();
      if (db.isOpen) db.close();
    },
  };
}

function opened(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: BUSY_MS });
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 200");
  db.exec(`PRAGMA max_page_count = ${MOST_PAGES}`);
  inTransaction(db, () => db.exec(COUNTS_SCHEMA));
  refuseAltered(db, COUNTS_SCHEMA);
  return db;
}
