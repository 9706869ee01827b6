// SQLite's own check of the log's file: damaged pages, and rows that an index lacks, which hides them from readers.
import { DatabaseSync } from "node:sqlite";

/** A line for each of the first ten; none when the file is sound. */
export function damageOf(file: string): string[] {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const lines = db
      .prepare("PRAGMA integrity_check(10)")
      .all()
      .map((row) => String(row.integrity_check));
    return lines.filter((line) => line !== "ok").map((line) => `events.db is damaged: ${line}`);
  } finally {
    db.close();
  }
}
