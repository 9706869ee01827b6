// Reads the event log of one SQLite file, synchronously, on a connection that may be of a reader alone.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Failure } from "../../../runtime/errors.ts";
import { categoryOf } from "../categories.ts";
import {
  type LogPage,
  type PageAsRead,
  type Position,
  type ReadAllOptions,
  type ReadOptions,
  type ReadStoredOptions,
  type RecordedEvent,
  START,
  type StoredText,
} from "../port.ts";
import { type AppendRow, type Dictionaries, positionText, type RowAsRead, readRow } from "./bodies.ts";
import { dictionariesOf } from "./log-file.ts";

export const COLUMNS = "position, stream, revision, count, recorded_at, dictionary, body";

/** The methods are those of the port. */
export class LogFileReader {
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
    return collect(rowsOf(rows), limit, (row) => {
      const events = this.#read(row).events.filter(isWanted);
      return backwards ? events.reverse() : events;
    });
  }

  readAll({ after, from, categories, limit }: ReadAllOptions): PageAsRead {
    const names = [...new Set(categories)];
    const start = from === undefined ? numberOf(after) : numberOf(from) - 1;
    const read: RowAsRead[] = [];
    const page = this.#pageOf(start, limit, () => {
      if (names.length === 0) return [];
      // No limit in SQL, as it would count appends.
      const rows = this.#statementOf(names.length).iterate(...names.flatMap((name) => [name, start]));
      return collect(rowsOf(rows), limit, (row) => {
        const asRead = this.#read(row);
        read.push(asRead);
        return eventsAfter(start, asRead.events);
      });
    });
    const texts = () => collect(read, limit, (row) => eventsAfter(start, row.texts()));
    return { ...page, texts };
  }

  readStored({ after, categories, limit }: ReadStoredOptions): LogPage<StoredText> {
    const start = numberOf(after);
    const isWanted = ({ stream }: StoredText) => categories.includes(categoryOf(stream));
    return this.#pageOf(start, limit, () =>
      collect(rowsOf(this.#everyAppend.iterate(start)), limit, (row) =>
        eventsAfter(start, this.#read(row).texts()).filter(isWanted),
      ),
    );
  }

  idAt(position: Position): string | undefined {
    const place = numberOf(position);
    if (place === 0) return undefined;
    const [event] = collect(rowsOf(this.#everyAppend.iterate(place - 1)), 1, (row) =>
      this.#read(row).events.filter((event) => event.position >= position),
    );
    return event?.position === position ? event.id : undefined;
  }

  head(): Position {
    return placed(this.#head.get());
  }

  newestOf(category: string): Position {
    return placed(this.#newestOf.get(category));
  }

  /** The end first: what is appended while the page is read may be of it or not. */
  #pageOf<E extends { position: Position }>(start: number, limit: number, read: () => E[]): LogPage<E> {
    const after = start === 0 ? START : positionText(start);
    const head = this.head();
    const events = read();
    const last = events.at(-1)?.position ?? after;
    const next = events.length >= limit || head < last ? last : head;
    return { events, next };
  }

  /** One ordered branch per category; SQLite merges them as it goes, so that a reader that stops early sorts nothing. */
  #statementOf(count: number): StatementSync {
    const prepared = this.#ofCategories.get(count);
    if (prepared) return prepared;
    const branch = `SELECT ${COLUMNS} FROM appends WHERE category = ? AND position > ?`;
    const sql = `${Array(count).fill(branch).join(" UNION ALL ")} ORDER BY position`;
    const statement = this.#db.prepare(sql);
    this.#ofCategories.set(count, statement);
    return statement;
  }

  #read(row: AppendRow): RowAsRead {
    const { dictionary } = row;
    // Another program may have added one meanwhile.
    if (dictionary !== null && !this.#dictionaries.has(dictionary))
      this.#dictionaries = dictionariesOf(this.#db);
    return readRow(row, this.#dictionaries);
  }
}

/** Of events up to the position, that one included. @throws invalid_position */
export function numberOf(position: Position): number {
  if (position !== START && !/^\d{20}$/.test(position))
    throw new Failure("This is not a position of this log", { code: "invalid_position" });
  return position === START ? 0 : Number(position);
}

function placed(row: unknown): Position {
  const { position } = row as { position: number | null };
  return position === null ? START : positionText(position);
}

/** A revision, and a number of events, that is never reached. */
const LAST = Number.MAX_SAFE_INTEGER;

/** A reader may go on inside an append. */
function eventsAfter<T extends { position: Position }>(start: number, events: T[]): T[] {
  const after = positionText(start);
  return events.filter(({ position }) => position > after);
}

function rowsOf(rows: Iterable<unknown>): Iterable<AppendRow> {
  return rows as Iterable<AppendRow>;
}

function collect<R, T>(rows: Iterable<R>, limit: number, itemsOf: (row: R) => T[]): T[] {
  const items: T[] = [];
  if (limit <= 0) return items;
  for (const row of rows) {
    for (const item of itemsOf(row)) items.push(item);
    if (items.length >= limit) break;
  }
  return items.length > limit ? items.slice(0, limit) : items;
}
