// Copies SQLite files as consistent snapshots while the service writes to them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fsyncSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";

/**
 * In a process of its own, which can be ended at any time: SQLite can't. `copy` must not exist. Does not block writers.
 * @throws an Error with SQLite's message, or when the copy fails the integrity check; the signal's reason
 */
export async function copySqlite(file: string, copy: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, [import.meta.filename, file, copy], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const kill = () => child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  const [[code], problem] = await Promise.all([once(child, "close"), text(child.stderr)]);
  signal.removeEventListener("abort", kill);
  signal.throwIfAborted();
  if (code !== 0) throw new Error(problem.trim() || "the copying process was ended");
}

function copyAndCheck(file: string, copy: string): void {
  const db = new DatabaseSync(file, { timeout: 5000 });
  try {
    db.prepare("VACUUM INTO ?").run(copy);
  } finally {
    db.close();
  }
  const check = new DatabaseSync(copy, { readOnly: true });
  try {
    const outcome = check.prepare("PRAGMA integrity_check").get()?.integrity_check;
    if (outcome !== "ok") throw new Error(`the copy is not sound: ${outcome}`);
  } finally {
    check.close();
  }
  const handle = openSync(copy, "r+");
  fsyncSync(handle);
  closeSync(handle);
}

if (import.meta.main) {
  const [file = "", copy = ""] = process.argv.slice(2);
  try {
    copyAndCheck(file, copy);
  } catch (error) {
    process.stderr.write((error as Error).message);
    process.exitCode = 1;
  }
}
