// The floor of projections: what SQLite alone writes, without our code: batches of inserts, and documents that are read,
// parsed, changed and written.
import type { DatabaseSync } from "node:sqlite";
import { openDocumentsDatabase } from "../floor/databases.ts";
import { randomNumbers } from "../traffic/draw.ts";

export type Floor = { what: string; perSecond: number; cpuMicros: number };

/** Bytes of a document, as the totals, breakdowns and recent clicks of a link and without the recent clicks. */
const SIZES = [700, 1_900];
const BATCH = 5_000;
const DOCUMENTS = 100_000;

/** In a new database in the folder, with the settings of our embedded stores. */
export function measureDocuments(folder: string, changes: number): Floor[] {
  return SIZES.flatMap((size) => {
    const db = openDocumentsDatabase(folder, `documents-${size}.db`);
    try {
      db.exec("CREATE TABLE d (id TEXT PRIMARY KEY, body TEXT)");
      const insert = db.prepare("INSERT INTO d VALUES (?, ?)");
      const read = db.prepare("SELECT body FROM d WHERE id = ?");
      const write = db.prepare("UPDATE d SET body = ? WHERE id = ?");
      const random = randomNumbers(1);
      const inserting = measure(db, `insert a document of ${size} bytes`, DOCUMENTS, (n) => {
        insert.run(idOf(n), documentOf(size));
      });
      const changing = measure(db, `read, change and write one of ${size} bytes`, changes, () => {
        const id = idOf(Math.floor(random() * DOCUMENTS));
        const document = JSON.parse((read.get(id) as { body: string }).body) as { clicks: number };
        document.clicks += 1;
        write.run(JSON.stringify(document), id);
      });
      return [inserting, changing];
    } finally {
      db.close();
    }
  });
}

/** Transactions of 5,000. */
function measure(db: DatabaseSync, what: string, count: number, work: (n: number) => void): Floor {
  const cpu = process.cpuUsage();
  const started = performance.now();
  for (let first = 0; first < count; first += BATCH) {
    db.exec("BEGIN IMMEDIATE");
    for (let n = first; n < Math.min(count, first + BATCH); n++) work(n);
    db.exec("COMMIT");
  }
  const { user, system } = process.cpuUsage(cpu);
  const perSecond = count / ((performance.now() - started) / 1000);
  return { what, perSecond, cpuMicros: (user + system) / count };
}

function idOf(n: number): string {
  return `localhost/b${n.toString().padStart(6, "0")}`;
}

/** Small members, as in a document of ours: parsing one long text would be much cheaper. */
function documentOf(bytes: number): string {
  const counts = Array.from({ length: Math.floor(bytes / 14) }, (_, n) => [`value${n}`, n]);
  return JSON.stringify({ clicks: 0, counts: Object.fromEntries(counts) }).padEnd(bytes);
}
