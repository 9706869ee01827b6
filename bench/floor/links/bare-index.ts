// The documents of the bare creator: a link's own and its entry for audits, with the indexes that lists and searches need.
import { openDocumentsDatabase } from "../databases.ts";
import type { BareEvent } from "./bare-events.ts";

/** Most links of a transaction, as of our own projector. */
export const LINKS_A_COMMIT = 5_000;

export function openBareIndex(folder: string) {
  const db = openDocumentsDatabase(folder, "bare-links.db");
  const of = (field: string) => `body ->> '${field}'`;
  db.exec(`
    CREATE TABLE links (id TEXT PRIMARY KEY, body TEXT NOT NULL);
    CREATE INDEX by_key ON links (${["keyId", "at", "slug", "domainId", "shortUrl", "longUrl"].map(of)});
    CREATE INDEX by_account ON links (${["accountId", "at", "slug", "domainId", "shortUrl", "longUrl"].map(of)});
    CREATE INDEX by_slug ON links (${["slug", "domainId"].map(of)}) WHERE ${of("domainId")} IS NOT NULL;
    CREATE TABLE entries (id TEXT PRIMARY KEY, category TEXT, account TEXT, actor TEXT, correlation TEXT, body TEXT);
    CREATE INDEX by_category ON entries (category, id);
    CREATE INDEX by_owner ON entries (account, id);
    CREATE INDEX by_actor ON entries (actor, id);
    CREATE INDEX by_correlation ON entries (correlation, id)`);
  const insertLink = db.prepare("INSERT INTO links VALUES (?, ?)");
  const insertEntry = db.prepare("INSERT INTO entries VALUES (?, 'link', ?, ?, ?, ?)");
  const write = ({ position, body }: BareEvent): void => {
    const { type, actor, ...link } = JSON.parse(body) as Record<string, string>;
    const { host = "", slug = "", accountId = "", at = "" } = link;
    insertLink.run(
      `${host}/${slug}`,
      JSON.stringify({ ...link, status: "live", deleted: false, revision: 0 }),
    );
    const entry = { type, stream: `link-${host}/${slug}`, revision: 0, opens: true };
    insertEntry.run(`${at}@${position}`, accountId, actor ?? "", slug, JSON.stringify(entry));
  };
  return {
    /** In one transaction. */
    add(events: readonly BareEvent[]): void {
      db.exec("BEGIN IMMEDIATE");
      for (const event of events) write(event);
      db.exec("COMMIT");
    },
    close: () => db.close(),
  };
}
