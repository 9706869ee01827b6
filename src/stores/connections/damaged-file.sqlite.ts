// Keeps a damaged SQLite file under another name, where its content can be made again.
import { existsSync, renameSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../runtime/errors.ts";
import { storeError } from "./errors.ts";

/** What is in the file otherwise than this program makes it, a line each. @throws SQLite's error */
export type Differences = (db: DatabaseSync) => string[];

/**
 * Looks into each page of a file that nobody has open; one that is damaged or different is renamed, with its companions.
 * Undefined for a sound or missing one. @throws the errors of the file system
 */
export function keepDamaged(
  file: string,
  differences: Differences,
): { damage: string; aside: string } | undefined {
  const damage = existsSync(file) ? damageOf(file, differences) : undefined;
  return damage === undefined ? undefined : { damage, aside: moveAway(file) };
}

/** Renames it with its companions, and returns its name from now on. @throws the errors of the file system */
export function moveAway(file: string): string {
  const aside = `${file}.damaged-${new Date().toISOString().replace(/\W/g, "")}`;
  renameSync(file, aside);
  for (const companion of ["-wal", "-shm"])
    if (existsSync(file + companion)) renameSync(file + companion, aside + companion);
  return aside;
}

/** Undefined also for what doesn't last, such as missing rights: who opens the file says so. */
function damageOf(file: string, differences: Differences): string | undefined {
  const db = new DatabaseSync(file, { timeout: 5_000, open: false });
  try {
    db.open();
    const [check] = db.prepare("PRAGMA quick_check(1)").all();
    // Behind a heading.
    const outcome = String(check?.quick_check).split("\n").at(-1);
    return outcome === "ok" ? differences(db)[0] : outcome;
  } catch (error) {
    return storeError("", error).code === "store_failed" ? messageOf(error) : undefined;
  } finally {
    if (db.isOpen) db.close();
  }
}
