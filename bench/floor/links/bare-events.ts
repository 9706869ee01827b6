// The log of the bare creator: a row for each event, unique by its stream, with an fsync a commit.
import { openLogDatabase } from "../databases.ts";

export function openBareEvents(folder: string) {
  const db = openLogDatabase(folder, "bare-events.db");
  db.exec(
    "CREATE TABLE IF NOT EXISTS events (position INTEGER PRIMARY KEY, stream TEXT NOT NULL UNIQUE, body TEXT NOT NULL)",
  );
  const insert = db.prepare("INSERT INTO events (stream, body) VALUES (?, ?)");
  const after = db.prepare("SELECT position, body FROM events WHERE position > ? ORDER BY position LIMIT ?");
  return {
    /** Streams and bodies in turn. */
    append(events: readonly string[]): void {
      db.exec("BEGIN IMMEDIATE");
      for (let n = 0; n < events.length; n += 2) insert.run(events[n] as string, events[n + 1] as string);
      db.exec("COMMIT");
    },
    read: (position: number, limit: number) =>
      after.all(position, limit) as { position: number; body: string }[],
  };
}
