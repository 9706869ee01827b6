// The log of the bare creator: a row for each event, unique by its stream, with an fsync a commit.
import { openLogDatabase } from "../databases.ts";

export type BareEvent = { position: number; body: string };

/** What the event of a new link says, and its answer in part. */
export function newLink(slug: string, longUrl: string, keyId: string, at: string) {
  const shortUrl = `http://localhost/${slug}`;
  return { host: "localhost", slug, shortUrl, longUrl, accountId: "account", keyId, domainId: null, at };
}

/** The event as JSON. */
export function linkCreated(link: ReturnType<typeof newLink>): string {
  return JSON.stringify({ type: "LinkCreated", actor: `api_key:${link.keyId}`, ...link });
}

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
    read: (position: number, limit: number) => after.all(position, limit) as BareEvent[],
    close: () => db.close(),
  };
}
