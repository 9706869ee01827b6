// Counts in a SQLite file of their own. They outlive the process, and a kill: what is written is with the operating system.
// Nothing is ever synced to the disk, and the counts of one turn of the event loop share a transaction, so that a count costs
// the caller's thread some ten microseconds and no wait; a power failure may cost the last ones, or the file.
import { statSync } from "node:fs";
import { basename } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../runtime/errors.ts";
import { moveAway } from "../connections/damaged-file.sqlite.ts";
import { CoordinationUnavailable, StoreFailed } from "../connections/errors.ts";
import { GroupCommit, inTransaction, limitOf, unavailableOnError } from "../connections/sqlite.ts";
import { refuseAltered } from "../connections/structure.sqlite.ts";
import { type Count, type Counted, type Counting, type Counts, counted, hasChanged } from "./counts.ts";

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

/** Another process may have moved the file away. */
const LOOK_EVERY_MS = 1_000;
/** What counts was lost with a damaged file: no count lasts longer. */
const TOLD_MS = 3_600_000;
/** Nothing may be counted for long behind a failure, as behind that of a full disk. */
const FAILURE_TOLD_MS = 2_000;

type Opened = { db: DatabaseSync; inode: number; steps: GroupCommit; step: Step };
type Step = (name: string, now: number, counting: Counting) => Counted | undefined;

/**
 * A file that proves damaged while it is used is moved away, and counts begin anew in another. `hide`: hashes the name that a
 * count has in the file, as it may hold an address. `log`: told when that happens.
 * @throws StoreUnavailable for a file that can't be opened
 */
export function openSqliteCounts(
  file: string,
  hide: (name: string) => string,
  log: (message: string) => void = () => undefined,
): Counts {
  let current = unavailableOnError(() => opened(file), file);
  let lookedAt = performance.now();
  let failed: { failure: string; at: number } | undefined;
  let replaced: { damage: string; at: number } | undefined;

  function reopen({ steps, db }: Opened): void {
    steps.close();
    if (db.isOpen) db.close();
    current = opened(file);
  }

  function lookForAnother(): void {
    const now = performance.now();
    if (now - lookedAt < LOOK_EVERY_MS) return;
    lookedAt = now;
    if (inodeOf(file) !== current.inode) reopen(current);
  }

  /** Unless another count has done it, or another process. */
  function replaceDamaged(damaged: Opened, error: unknown): void {
    if (current !== damaged) return;
    if (inodeOf(file) === damaged.inode) {
      const damage = `${basename(file)} was damaged (${messageOf(error)}): it is kept as ${basename(moveAway(file))}, and limits count anew`;
      replaced = { damage, at: performance.now() };
      log(damage);
    }
    reopen(damaged);
  }

  async function write(name: string, now: number, counting: Counting): Promise<Counted | undefined> {
    const { steps, step } = current;
    return await steps.write(() => step(name, now, counting), NO_LONGER);
  }

  return {
    async count(subject, now, counting) {
      const name = hide(subject);
      try {
        lookForAnother();
        const used = current;
        const result = await write(name, now, counting).catch((error: unknown) => {
          if (!(error instanceof StoreFailed)) throw error;
          replaceDamaged(used, error);
          return write(name, now, counting);
        });
        failed = undefined;
        return result;
      } catch (error) {
        failed = { failure: `${basename(file)}: ${messageOf(error)}`, at: performance.now() };
        throw new CoordinationUnavailable(`${file}: ${messageOf(error)}`, { cause: error });
      }
    },
    get problem() {
      const now = performance.now();
      if (failed && now - failed.at < FAILURE_TOLD_MS) return failed.failure;
      return replaced && now - replaced.at < TOLD_MS ? replaced.damage : undefined;
    },
    async close() {
      current.steps.close();
      if (current.db.isOpen) current.db.close();
    },
  };
}

function opened(file: string): Opened {
  const db = new DatabaseSync(file, { timeout: BUSY_MS });
  try {
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 200");
    db.exec(`PRAGMA max_page_count = ${MOST_PAGES}`);
    inTransaction(db, () => db.exec(COUNTS_SCHEMA));
    refuseAltered(db, COUNTS_SCHEMA);
    const get = db.prepare("SELECT used, ends_at AS endsAt FROM counts WHERE name = ?");
    const put = db.prepare("INSERT OR REPLACE INTO counts VALUES (?, ?, ?)");
    const sweep = db.prepare(
      `DELETE FROM counts WHERE name IN (SELECT name FROM counts WHERE ends_at <= ? ORDER BY ends_at ${limitOf("?")})`,
    );
    const step: Step = (name, now, counting) => {
      const kept = get.get(name) as Count | undefined;
      const next = counted(kept, now, counting);
      if (!next || !hasChanged(kept, next, now, counting)) return next;
      if (!kept) sweep.run(now, SWEPT);
      put.run(name, next.used, next.endsAt);
      return next;
    };
    return { db, inode: inodeOf(file), steps: new GroupCommit(db), step };
  } catch (error) {
    db.close();
    throw error;
  }
}

function inodeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.ino ?? 0;
}
