// Copies SQLite files as consistent snapshots while the service writes to them.
import { closeSync, fsyncSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/**
 * `copy` must not exist. Does not block writers.
 * @throws SQLite's error, or an Error when the copy fails the integrity check
 */
export function copySqlite(file: string, copy: string): void {
  const db = new DatabaseSync(file, { timeout: 5000 });
  try {
    db.prepare("VACUUM INTO ?").run(copy);
  } finally {
    db.close();
  }
  const check = new DatabaseSync(copy, { readOnly: true });
  try {
    const found = check.prepare("PRAGMA integrity_check").get()?.integrity_check;
    if (found !== "ok") throw new Error(`the copy is not sound: ${found}`);
  } finally {
    check.close();
  }
  const handle = openSync(copy, "r+");
  fsyncSync(handle);
  closeSync(handle);
}
