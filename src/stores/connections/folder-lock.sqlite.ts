// A lock on a folder that ends with its process, also by kill -9: the operating system releases the lock of SQLite's file.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Failure } from "../../runtime/errors.ts";
import { unavailableOnError } from "./sqlite.ts";

const [SQLITE_BUSY, SQLITE_CORRUPT, SQLITE_NOTADB] = [5, 11, 26];
/** A process that is refused reads the file for a moment. */
const WAIT_MS = 500;

/**
 * Locks `folder`, which exists, until `release` or the end of the process; by `pid` the holder is named to whoever comes
 * later. The file in it can be read, copied and deleted.
 * @throws Failure while another process holds it; StoreUnavailable
 */
export function lockFolder(folder: string, pid: number): { release(): void } {
  const file = join(folder, "lock.db");
  return unavailableOnError(() => {
    const db = new DatabaseSync(file, { timeout: WAIT_MS });
    try {
      db.exec("BEGIN IMMEDIATE");
      // Committed, as others can't read what an open transaction writes; and again when another one was faster.
      while (holderIn(db) !== pid) db.exec(`PRAGMA user_version = ${pid}; COMMIT; BEGIN IMMEDIATE`);
      return { release: () => db.close() };
    } catch (error) {
      if (isError(error, SQLITE_CORRUPT, SQLITE_NOTADB)) {
        db.close();
        const otherwise = "holds nothing: delete it once no service runs on this folder";
        throw new Failure(`${file} is damaged, and ${otherwise}`, { code: "file_altered" });
      }
      const isHeld = isError(error, SQLITE_BUSY);
      const holder = isHeld ? holderIn(db) : pid;
      db.close();
      if (!isHeld) throw error;
      // Of another container, in which processes are numbered anew, it may be our own number.
      const name = holder === pid ? "another service" : `another service, process ${holder}`;
      throw new Failure(
        `DATA_DIR: ${folder} is in use by ${name}: stop it, or give this one a folder of its own`,
      );
    }
  }, file);
}

/** Whether a process holds the lock of `folder`. Changes nothing, also where it may not. */
export function isFolderLocked(folder: string): boolean {
  const file = join(folder, "lock.db");
  if (!existsSync(file)) return false;
  const db = new DatabaseSync(file);
  try {
    db.exec("BEGIN IMMEDIATE; ROLLBACK");
    return false;
  } catch (error) {
    // Of a file that can't be written nobody holds the lock.
    return isError(error, SQLITE_BUSY);
  } finally {
    db.close();
  }
}

function isError(error: unknown, ...codes: readonly number[]): boolean {
  return codes.includes(((error as { errcode?: number }).errcode ?? 0) % 256);
}

function holderIn(db: DatabaseSync): number | undefined {
  return db.prepare("PRAGMA user_version").get()?.user_version as number | undefined;
}
