// The links of the bare recorder: documents in SQLite, of which its HTTP thread keeps those that it read last.
import { LRUCache } from "lru-cache";
import { benchSlug, benchUrl } from "../../traffic/requests.ts";
import { openDocumentsDatabase } from "../databases.ts";

const DATABASE = "bare-redirects.db";
/** As many as our own cache holds in its 32 MB. */
const KEPT_LINKS = 45_000;

export type BareLink = { longUrl: string; accountId: string; status: "live" };

/** As many links as the load generator asks for, by the paths of their URLs. */
export function writeBareLinks(folder: string, links: number): void {
  const db = openDocumentsDatabase(folder, DATABASE);
  db.exec("CREATE TABLE links (id TEXT PRIMARY KEY, body TEXT NOT NULL)");
  const insert = db.prepare("INSERT INTO links VALUES (?, ?)");
  db.exec("BEGIN");
  for (let n = 0; n < links; n++) {
    const link: BareLink = { longUrl: benchUrl(n), accountId: "account", status: "live" };
    insert.run(`/${benchSlug(n)}`, JSON.stringify(link));
  }
  db.exec("COMMIT");
  db.close();
}

/** Finds a link by the path of its URL. */
export function openBareLinks(folder: string): (path: string) => BareLink | undefined {
  const read = openDocumentsDatabase(folder, DATABASE).prepare("SELECT body FROM links WHERE id = ?");
  const kept = new LRUCache<string, BareLink>({ max: KEPT_LINKS });
  return (path) => {
    const known = kept.get(path);
    if (known) return known;
    const row = read.get(path);
    if (!row) return undefined;
    const link = JSON.parse(String(row.body)) as BareLink;
    kept.set(path, link);
    return link;
  };
}
