// A disk of a few megabytes that a test can fill: a real one where the test may mount it, else SQLite's own error for a
// full disk, by triggers in every file of the service.
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { temporaryFolder } from "./temporary-folder.ts";

const SIZE = "size=8m";

/** `fill` is called after the service has made its files. */
export type SmallDisk = { path: string; fill(): void; free(): void; remove(): Promise<void> };

export async function smallDisk(): Promise<SmallDisk> {
  const folder = await temporaryFolder();
  const { path } = folder;
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", SIZE, "tmpfs", path], { stdio: "ignore" });
  } catch {
    return { ...folder, fill: () => refuseInserts(path), free: () => allowInserts(path) };
  }
  const filler = join(path, "filler");
  return {
    path,
    fill: () => fillWith(filler),
    free: () => rmSync(filler),
    async remove() {
      execFileSync("umount", [path]);
      await folder.remove();
    },
  };
}

/** To the last byte: in ever smaller pieces until none fits. */
function fillWith(filler: string): void {
  const file = openSync(filler, "w");
  for (const size of [65_536, 4_096, 512])
    try {
      while (writeSync(file, Buffer.alloc(size)) === size);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  closeSync(file);
}

function refuseInserts(folder: string): void {
  onEach(folder, (db) => {
    for (const { name } of db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
      .all())
      db.exec(
        `CREATE TRIGGER "full ${name}" BEFORE INSERT ON "${name}" BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`,
      );
  });
}

function allowInserts(folder: string): void {
  onEach(folder, (db) => {
    for (const { name } of db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
      db.exec(`DROP TRIGGER "${name}"`);
  });
}

function onEach(folder: string, work: (db: DatabaseSync) => void): void {
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".db"))) {
    const db = new DatabaseSync(join(folder, name), { timeout: 5_000 });
    try {
      work(db);
    } finally {
      db.close();
    }
  }
}
