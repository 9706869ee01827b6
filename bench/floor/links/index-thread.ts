// The bare creator's third thread: reads the log, and writes a link's document and its entry for audits, with the indexes
// that lists and searches need, every 100 ms.
import { openDocumentsDatabase } from "../databases.ts";
import { folder, keepReading, reportCommitted } from "../thread-loops.ts";
import { openBareEvents } from "./bare-events.ts";

/** Of our own projector for links. */
const COMMIT_EVERY_MS = 100;
const MAX_LINKS = 5_000;

const log = openBareEvents(folder);
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
let position = 0;
keepReading(indexNew, COMMIT_EVERY_MS);

function indexNew(): boolean {
  const rows = log.read(position, MAX_LINKS);
  if (rows.length > 0) {
    db.exec("BEGIN IMMEDIATE");
    for (const row of rows) write(row);
    db.exec("COMMIT");
    position = rows.at(-1)?.position ?? position;
    reportCommitted(rows.length);
  }
  return rows.length === MAX_LINKS;
}

function write({ position, body }: { position: number; body: string }): void {
  const { type, actor, ...link } = JSON.parse(body) as Record<string, string>;
  const { host = "", slug = "", accountId = "", at = "" } = link;
  insertLink.run(`${host}/${slug}`, JSON.stringify({ ...link, status: "live", deleted: false, revision: 0 }));
  const entry = { type, stream: `link-${host}/${slug}`, revision: 0, opens: true };
  insertEntry.run(`${at}@${position}`, accountId, actor ?? "", slug, JSON.stringify(entry));
}
