// The documents of the bare recorder: one for each link, of its day with its ten last clicks.
import type { DatabaseSync } from "node:sqlite";
import { openDocumentsDatabase } from "../databases.ts";
import type { BareClick } from "./bare-log.ts";

const RECENT_CLICKS = 10;
const MAX_VISITORS = 256;
const CODE = 10;
const MAX_VALUES = 200;
const OTHER = "other";
/** As many values as real ones have. */
const DEVICES = ["desktop", "mobile", "tablet"];
const SYSTEMS = ["Windows", "macOS", "Android", "iOS", "Linux", "Chrome OS", "unknown"];
const BROWSERS = ["Chrome", "Safari", "Firefox", "Edge", "Opera", "Samsung Internet", "unknown"];

/** `tallies`: of six values, each a list of values and counts in turn. `visitors`: the codes of a day, one after the other. */
type Counts = { clicks: number; tallies: (string | number)[][]; recent: string[][]; visitors: string };

/** `kept`: documents that stay in memory after a commit. */
export function openBareCounts(
  folder: string,
  { name = "bare-counts.db", kept }: { name?: string; kept: number },
) {
  const db = openDocumentsDatabase(folder, name);
  const links = linksIn(db, kept);
  return {
    count(click: BareClick): void {
      const link = links.changed(click.link);
      const { at, userAgent, country, city, address, referrer } = click;
      if (link.recent.length === RECENT_CLICKS) link.recent.shift();
      link.recent.push([at, userAgent, country, city, address, referrer]);
      countIn(link, valuesOf(click));
      const code = click.visitor.slice(0, CODE);
      if (link.visitors.length < MAX_VISITORS * CODE && !link.visitors.includes(code)) link.visitors += code;
    },
    commit(): void {
      db.exec("BEGIN IMMEDIATE");
      links.write();
      db.exec("COMMIT");
    },
    /** Clicks in all documents, from the file. */
    counted: () => Number(db.prepare("SELECT sum(body ->> 'clicks') AS n FROM links").get()?.n),
    close: () => db.close(),
  };
}

function linksIn(db: DatabaseSync, kept: number) {
  db.exec("CREATE TABLE IF NOT EXISTS links (id TEXT PRIMARY KEY, body TEXT NOT NULL)");
  const read = db.prepare("SELECT body FROM links WHERE id = ?");
  const write = db.prepare(
    "INSERT INTO links VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
  );
  /** In the order of their last change. */
  const inMemory = new Map<string, Counts>();
  const unwritten = new Map<string, Counts>();
  const stored = (id: string): Counts => {
    const row = read.get(id);
    if (row) return JSON.parse(String(row.body)) as Counts;
    return { clicks: 0, tallies: [[], [], [], [], [], []], recent: [], visitors: "" };
  };
  return {
    changed(id: string): Counts {
      const known = unwritten.get(id) ?? inMemory.get(id) ?? stored(id);
      unwritten.set(id, known);
      return known;
    },
    write(): void {
      for (const [id, counts] of unwritten) {
        write.run(id, JSON.stringify(counts));
        inMemory.delete(id);
        inMemory.set(id, counts);
      }
      unwritten.clear();
      for (const id of inMemory.keys()) {
        if (inMemory.size <= kept) break;
        inMemory.delete(id);
      }
    },
  };
}

function countIn(counts: Counts, values: readonly string[]): void {
  counts.clicks += 1;
  for (const [n, value] of values.entries()) {
    const tally = counts.tallies[n] as (string | number)[];
    const isFull = tally.length >= 2 * MAX_VALUES;
    const known = tally.indexOf(value);
    const at = known < 0 && isFull ? tally.indexOf(OTHER) : known;
    if (at >= 0) tally[at + 1] = (tally[at + 1] as number) + 1;
    else tally.push(isFull ? OTHER : value, 1);
  }
}

function valuesOf({ userAgent, country, city, referrer }: BareClick): string[] {
  const one = (values: readonly string[]) => values[userAgent.length % values.length] as string;
  return [one(DEVICES), one(SYSTEMS), one(BROWSERS), country, city, referrer];
}
