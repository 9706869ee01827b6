// The databases of the bare programs, opened as our embedded log and read store are, so that settings can't differ.
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { openLogFile } from "../../src/event-store/sqlite/log.ts";
import { openDatabase } from "../../src/read-store/sqlite/database.ts";

/** Each commit with an fsync. */
export function openLogDatabase(folder: string, name: string): DatabaseSync {
  return openLogFile(join(folder, name));
}

/** Commits without one. */
export function openDocumentsDatabase(folder: string, name: string): DatabaseSync {
  return openDatabase(join(folder, name));
}
