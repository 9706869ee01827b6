// Click spools as SQLite files in a folder: one per thread, locked for as long as its process runs.
import { existsSync, mkdirSync, readdirSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { ClickSpools } from "./click-spool.ts";
import { newSpoolFile, orphanedSpoolFile } from "./click-spool-file.sqlite.ts";
import { SqliteClickSpool } from "./click-spool-rows.sqlite.ts";

export type SqliteSpoolOptions = {
  /** Unique. */
  name: string;
  maxBytes: number;
  /** Free disk space below which nothing is spooled; default 100 MB. */
  minFreeBytes?: number;
};

const SUFFIX = ".spool";
const MIN_FREE_BYTES = 100 * 1024 * 1024;
const CHECK_DISK_MS = 1000;

export function sqliteClickSpools(folder: string, options: SqliteSpoolOptions): ClickSpools {
  const { name, maxBytes, minFreeBytes = MIN_FREE_BYTES } = options;
  const fileOf = (entry: string) => join(folder, entry);
  return {
    openOwn() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const hasRoom = diskWatch(folder, minFreeBytes);
      const file = fileOf(name + SUFFIX);
      return new SqliteClickSpool(file, newSpoolFile(file), { maxBytes, hasRoom });
    },
    openOrphaned(onUnreadable) {
      if (!existsSync(folder)) return [];
      const entries = readdirSync(folder).filter(
        (entry) => entry.endsWith(SUFFIX) && entry !== name + SUFFIX,
      );
      return entries.flatMap((entry) => {
        let db: DatabaseSync | undefined;
        try {
          db = orphanedSpoolFile(fileOf(entry));
          return db ? [new SqliteClickSpool(fileOf(entry), db)] : [];
        } catch (error) {
          // Else its lock would be in the way of who wants to save what is in it.
          db?.close();
          onUnreadable(`The click spool ${entry} can't be read: ${String(error)}`, error);
          return [];
        }
      });
    },
  };
}

/** Whether the disk has room; calls statfs at most once a second. */
function diskWatch(folder: string, minFreeBytes: number): () => boolean {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let hasRoom = true;
  return () => {
    if (performance.now() - checkedAt > CHECK_DISK_MS) {
      const { bavail, bsize } = statfsSync(folder);
      hasRoom = bavail * bsize > minFreeBytes;
      checkedAt = performance.now();
    }
    return hasRoom;
  };
}
