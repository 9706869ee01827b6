// Files of the data folder whose content comes back by itself: a damaged one is set aside at the start, and made again.
import { existsSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../runtime/errors.ts";
import { storeError } from "../../stores/connections/errors.ts";
import { alterations } from "../../stores/connections/structure.sqlite.ts";
import { COUNTS_SCHEMA } from "../../stores/counts/sqlite/counts.ts";
import { foreignTables } from "../../stores/read-store/sqlite/synchronous-read-store.ts";

/** By their names: what each holds otherwise than this program makes it, and what its loss means. */
const FILES: Readonly<Record<string, { differences(db: DatabaseSync): string[]; again: string }>> = {
  "limits.db": {
    differences: (db) => alterations(db, COUNTS_SCHEMA),
    again: "limits count anew",
  },
  "read.db": {
    differences: (db) => [...alterations(db), ...foreignTables(db)],
    again: "the documents are folded again from the log",
  },
};

/**
 * Damage inside their pages is found, too. To be called by who has locked the folder, before anybody opens them.
 * @throws the errors of the file system
 */
export function setDamagedAside(dataDir: string, log: (message: string) => void): void {
  for (const [name, { differences, again }] of Object.entries(FILES)) {
    const file = join(dataDir, name);
    const damage = existsSync(file) ? damageOf(file, differences) : undefined;
    if (damage === undefined) continue;
    const aside = `${file}.damaged-${new Date().toISOString().replace(/\W/g, "")}`;
    for (const companion of ["", "-wal", "-shm"])
      if (existsSync(file + companion)) renameSync(file + companion, aside + companion);
    log(`${name} can't be used (${damage}): it is kept as ${basename(aside)}, and ${again}`);
  }
}

/** Undefined for a sound file, and for what doesn't last, such as missing rights: who opens the file says so. */
function damageOf(file: string, differences: (db: DatabaseSync) => string[]): string | undefined {
  const db = new DatabaseSync(file, { timeout: 5_000, open: false });
  try {
    db.open();
    const [check] = db.prepare("PRAGMA quick_check(1)").all();
    // Behind a heading.
    const said = String(check?.quick_check).split("\n").at(-1);
    return said === "ok" ? differences(db)[0] : said;
  } catch (error) {
    return storeError("", error).code === "store_failed" ? messageOf(error) : undefined;
  } finally {
    if (db.isOpen) db.close();
  }
}
