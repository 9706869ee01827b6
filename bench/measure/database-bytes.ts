// The size of an embedded store's file.
import { DatabaseSync } from "node:sqlite";

/** Includes pages that are still in the write-ahead log. */
export function databaseBytes(file: string): number {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(db.prepare("PRAGMA page_count").get()?.page_count) * 4096;
  } finally {
    db.close();
  }
}
