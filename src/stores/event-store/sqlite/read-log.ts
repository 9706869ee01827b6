// Reads the event log of one SQLite file, synchronously, on a connection that may be of a reader alone.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { LRUCache } from "lru-cache";
import type { ReadAllOptions, RecordedEvent, StoredText } from "../port.ts";
import { type AppendRow, type Dictionaries, eventsOfRow, positionText, textsOfRow } from "./bodies.ts";
import { dictionariesOf } from "./log-file.ts";

export type ReadRequest = { stream: string; from: number; backwards: boolean; limit: number };
export type ReadAllRequest = Pick<ReadAllOptions, "categories" | "limit"> & { after: number };

/**
 * Events that stay decoded: several readers of a thread follow the end of the log one after the other, and who pages
 * through it continues inside an append.
 */
const DECODED_EVENTS = 5_000;

export const COLUMNS = "position, stream, revision, count, recorded_at, dictionary, body";

export class LogReader {
  readonly #db: DatabaseSync;
  readonly #decoded = new LRUCache<number, { row: AppendRow; events: RecordedEvent[] }>({
    maxSize: DECODED_EVENTS,
    sizeCalculation: ({ events }) => events.length,
  });
  readonly #head: StatementSync;
  readonly #newestOf: StatementSync;
  readonly #forwards: StatementSync;
  readonly #backwards: StatementSync;
  readonly #everyAppend: StatementSync;
  readonly #ofCategories = new Map<number, StatementSync>();
  #dictionaries: Dictionaries;

  /** @throws SQLite's error for a file that isn't as log-file.ts makes it */
  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#dictionaries = dictionariesOf(db);
    this.#head = db.prepare("SELECT max(position) AS position FROM appends");
    this.#newestOf = db.prepare("SELECT max(position) AS position FROM appends WHERE category = ?");
    // By the rowid alone: no index, and nothing that is computed from a row, decides what is read.
    this.#everyAppend = db.prepare(
      `SELECT ${COLUMNS} FROM appends NOT INDEXED WHERE position > ? ORDER BY position`,
    );
    const ofStream = `SELECT ${COLUMNS} FROM appends WHERE stream = $stream`;
    this.#forwards = db.prepare(`${ofStream} AND revision >= $from ORDER BY revision`);
    // From the append on that has the revision, which an index finds; from the last one, if none has.
    const first =
      "SELECT revision FROM appends WHERE stream = $stream AND revision >= $from ORDER BY revision LIMIT 1";
    this.#backwards = db.prepare(
      `${ofStream} AND revision <= coalesce((${first}), $from) ORDER BY revision DESC`,
    );
  }

  /** Events of one stream, in order or newest first. */
  read({ stream, from, backwards, limit }: ReadRequest): RecordedEvent[] {
    const rows = (backwards ? this.#backwards : this.#forwards).iterate({ stream, from });
    const isWanted = ({ revision }: RecordedEvent) => (backwards ? revision <= from : revision >= from);
    return collect(rows, limit, (row) => {
      const events = this.#eventsOf(row).filter(isWanted);
      return backwards ? events.reverse() : events;
    });
  }

  readAll({ after, categories, limit }: ReadAllRequest): RecordedEvent[] {
    const names = [...new Set(categories)];
    if (names.length === 0) return [];
    // No limit in SQL, as it would count appends.
    const rows = this.#statementOf(names.length).iterate(...names.flatMap((name) => [name, after]));
    const start = positionText(after);
    return collect(rows, limit, (row) => this.#eventsOf(row).filter(({ position }) => position > start));
  }

  readStored({ after, limit }: { after: number; limit: number }): StoredText[] {
    const start = positionText(after);
    return collect(this.#everyAppend.iterate(after), limit, (row) =>
      textsOfRow(row, this.#dictionariesFor(row)).filter(({ position }) => position > start),
    );
  }

  /** Position of the last event; 0 when there is none. */
  head(): number {
    return (this.#head.get() as { position: number | null }).position ?? 0;
  }

  /** Position of the last event of a category; 0 when there is none. */
  newestOf(category: string): number {
    return (this.#newestOf.get(category) as { position: number | null }).position ?? 0;
  }

  /** One ordered branch per category; SQLite merges them as it goes, so that a reader that stops early sorts nothing. */
  #statementOf(count: number): StatementSync {
    const known = this.#ofCategories.get(count);
    if (known) return known;
    const branch = `SELECT ${COLUMNS} FROM appends WHERE category = ? AND position > ?`;
    const sql = `${Array(count).fill(branch).join(" UNION ALL ")} ORDER BY position`;
    const statement = this.#db.prepare(sql);
    this.#ofCategories.set(count, statement);
    return statement;
  }

  /** Readers share the objects, so these must not be mutated. A row that somebody has edited in the file is read anew. */
  #eventsOf(row: AppendRow): RecordedEvent[] {
    const known = this.#decoded.get(row.position);
    if (known && isDeepStrictEqual(known.row, row)) return known.events;
    const events = eventsOfRow(row, this.#dictionariesFor(row));
    this.#decoded.set(row.position, { row, events });
    return events;
  }

  /** Another program may have added one meanwhile. */
  #dictionariesFor({ dictionary }: AppendRow): Dictionaries {
    if (dictionary !== null && !this.#dictionaries.has(dictionary))
      this.#dictionaries = dictionariesOf(this.#db);
    return this.#dictionaries;
  }
}

function collect<T>(rows: Iterable<unknown>, limit: number, eventsOf: (row: AppendRow) => T[]): T[] {
  const found: T[] = [];
  if (limit <= 0) return found;
  for (const row of rows as Iterable<AppendRow>) {
    for (const event of eventsOf(row)) found.push(event);
    if (found.length >= limit) break;
  }
  return found.length > limit ? found.slice(0, limit) : found;
}
