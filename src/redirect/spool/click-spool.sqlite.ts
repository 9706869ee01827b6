// Click spools as SQLite files in a folder: one a thread, held under the file's lock, which ends with its process.
import { existsSync, mkdirSync, readdirSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { ClickSpools } from "./click-spool.ts";
import { orphanedSpoolFile } from "./click-spool-file.sqlite.ts";
import { SqliteClickSpool } from "./click-spool-rows.sqlite.ts";

export type SqliteSpoolOptions = {
  /** Sorts before those of later threads of the same writer and is given to nobody else. */
  name: string;
  maxBytes: number;
  /** Disk space that clicks must leave to others; default 100 MB. */
  minFreeBytes?: number;
};

const SUFFIX = ".spool";
const MIN_FREE_BYTES = 100 * 1024 * 1024;
const LOOK_AT_DISK_MS = 1000;

export function sqliteClickSpools(folder: string, options: SqliteSpoolOptions): ClickSpools {
  const { name, maxBytes, minFreeBytes = MIN_FREE_BYTES } = options;
  const fileOf = (entry: string) => join(folder, entry);
  return {
    openOwn() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const hasRoom = diskWatch(folder, minFreeBytes);
      return new SqliteClickSpool(fileOf(name + SUFFIX), { maxBytes, hasRoom });
    },
    openOrphaned(onTrouble) {
      if (!existsSync(folder)) return [];
      const entries = readdirSync(folder).filter(
        (entry) => entry.endsWith(SUFFIX) && entry !== name + SUFFIX,
      );
      return entries.sort().flatMap((entry) => {
        try {
          const db = orphanedSpoolFile(fileOf(entry));
          return db ? [new SqliteClickSpool(fileOf(entry), undefined, db)] : [];
        } catch (error) {
          onTrouble(`The click spool ${entry} can't be read: ${String(error)}`, error);
          return [];
        }
      });
    },
  };
}

/** Asks the disk at most once a second. */
function diskWatch(folder: string, minFreeBytes: number): () => boolean {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let hasRoom = true;
  return () => {
    if (performance.now() - lookedAt > LOOK_AT_DISK_MS) {
      const { bavail, bsize } = statfsSync(folder);
      hasRoom = bavail * bsize > minFreeBytes;
      lookedAt = performance.now();
    }
    return hasRoom;
  };
}
