// Reads the event log of one SQLite file, synchronously, on a connection that may be of a reader alone.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type {
  Position,
  ReadAllOptions,
  ReadOptions,
  ReadStoredOptions,
  RecordedEvent,
  StoredText,
} from "../port.ts";
import { type AppendRow, type Dictionaries, eventsOfRow, positionText, textsOfRow } from "./bodies.ts";
import { dictionariesOf } from "./log-file.ts";

export const COLUMNS = "position, stream, revision, count, recorded_at, dictionary, body";

/** The methods are those of the port. */
export class LogReader {
  readonly #db: DatabaseSync;
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

  read(
    stream: string,
    { backwards = false, from = backwards ? LAST : 0, limit = LAST }: ReadOptions = {},
  ): RecordedEvent[] {
    const rows = (backwards ? this.#backwards : this.#forwards).iterate({ stream, from });
    const isWanted = ({ revision }: RecordedEvent) => (backwards ? revision <= from : revision >= from);
    return collect(rows, limit, (row) => {
      const events = eventsOfRow(row, this.#dictionariesFor(row)).filter(isWanted);
      return backwards ? events.reverse() : events;
    });
  }

  readAll({ after, from, categories, limit }: ReadAllOptions): RecordedEvent[] {
    const names = [...new Set(categories)];
    if (names.length === 0) return [];
    const start = from === undefined ? Number(after ?? 0) : Number(from) - 1;
    // No limit in SQL, as it would count appends.
    const rows = this.#statementOf(names.length).iterate(...names.flatMap((name) => [name, start]));
    return collect(rows, limit, (row) => behind(start, eventsOfRow(row, this.#dictionariesFor(row))));
  }

  readStored({ after, limit }: ReadStoredOptions): StoredText[] {
    const start = Number(after ?? 0);
    return collect(this.#everyAppend.iterate(start), limit, (row) =>
      behind(start, textsOfRow(row, this.#dictionariesFor(row))),
    );
  }

  head(): Position | undefined {
    const { position } = this.#head.get() as { position: number | null };
    return position === null ? undefined : positionText(position);
  }

  newestOf(category: string): Position {
    const { position } = this.#newestOf.get(category) as { position: number | null };
    return position === null ? "" : positionText(position);
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

  /** Another program may have added one meanwhile. */
  #dictionariesFor({ dictionary }: AppendRow): Dictionaries {
    if (dictionary !== null && !this.#dictionaries.has(dictionary))
      this.#dictionaries = dictionariesOf(this.#db);
    return this.#dictionaries;
  }
}

/** A revision, and a number of events, that is never reached. */
const LAST = Number.MAX_SAFE_INTEGER;

/** A reader may go on inside an append. */
function behind<T extends { position: Position }>(start: number, events: T[]): T[] {
  const after = positionText(start);
  return events.filter(({ position }) => position > after);
}

function collect<T>(rows: Iterable<unknown>, limit: number, eventsOf: (row: AppendRow) => T[]): T[] {
  const items: T[] = [];
  if (limit <= 0) return items;
  for (const row of rows as Iterable<AppendRow>) {
    for (const event of eventsOf(row)) items.push(event);
    if (items.length >= limit) break;
  }
  return items.length > limit ? items.slice(0, limit) : items;
}
