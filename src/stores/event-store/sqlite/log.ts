// The event log in one SQLite file, synchronous: transactions, expected revisions and idempotent appends.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { LRUCache } from "lru-cache";
import { inSnapshot, inTransaction } from "../../connections/sqlite.ts";
import { categoryOf } from "../categories.ts";
import type {
  ExpectedRevision,
  NewEvent,
  ReadAllOptions,
  RecordedEvent,
  StoredText,
  StructureProblem,
} from "../port.ts";
import { type AppendRow, compressed, type Dictionaries, eventsOfRow, jsonOf, textsOfRow } from "./bodies.ts";
import { DICTIONARY, dictionariesOf, fileProblems, openLogFile } from "./log-file.ts";
import { positionText } from "./positions.ts";

export type LogOptions = {
  /** For a file in a folder that can't be written, or that must not be changed. */
  readOnly?: boolean | undefined;
};

/** `events`: their ids, and the JSON array of all. */
export type AppendRequest = {
  stream: string;
  expected: ExpectedRevision;
  recordedAt: string;
  ids: readonly string[];
  json: string;
};

/** `actual`: of a conflict, which is a value, not an exception: it is sent between threads, and does not roll back a group of appends. */
export type AppendOutcome = { revision: number; position: number } | { actual: number | "none" };

export type ReadRequest = { stream: string; from: number; backwards: boolean; limit: number };
export type ReadAllRequest = Pick<ReadAllOptions, "categories" | "limit"> & { after: number };
export type ReadStoredRequest = { after: number; limit: number };

/** Whose bodies are compressed: large numbers of events alike, read in bulk. */
const COMPRESSED = "clicks";

/**
 * Events that stay decoded: several readers of a thread follow the end of the log one after the other, and who pages
 * through it continues inside an append.
 */
const DECODED_EVENTS = 5_000;

const COLUMNS = "position, stream, revision, count, recorded_at, dictionary, body";

/** Serialised here, outside of the log's transaction. @throws TypeError when data or metadata are not plain JSON */
export function appendRequest(
  stream: string,
  expected: ExpectedRevision,
  events: readonly NewEvent[],
  recordedAt: string,
): AppendRequest {
  return { stream, expected, recordedAt, ids: events.map(({ id }) => id), json: jsonOf(events) };
}

export class SqliteLog {
  readonly #db: DatabaseSync;
  readonly #decoded = new LRUCache<number, { row: AppendRow; events: RecordedEvent[] }>({
    maxSize: DECODED_EVENTS,
    sizeCalculation: ({ events }) => events.length,
  });
  readonly #insert: StatementSync;
  readonly #last: StatementSync;
  readonly #head: StatementSync;
  readonly #forwards: StatementSync;
  readonly #backwards: StatementSync;
  readonly #everyAppend: StatementSync;
  readonly #ofCategories = new Map<number, StatementSync>();
  #dictionaries: Dictionaries;

  /** @throws log_form_unknown, and SQLite's own error when the file can't be opened */
  constructor(file: string, { readOnly = false }: LogOptions = {}) {
    const db = openLogFile(file, readOnly);
    this.#db = db;
    this.#dictionaries = dictionariesOf(db);
    this.#insert = db.prepare(`INSERT INTO appends (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
    this.#last = db.prepare("SELECT revision FROM appends WHERE stream = ? ORDER BY revision DESC LIMIT 1");
    this.#head = db.prepare("SELECT max(position) AS position FROM appends");
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

  /**
   * Runs all requests in one transaction, so that many appends need one fsync; each succeeds or conflicts on its own.
   * SQLite serialises write transactions, so commit order equals position order and readers never miss a position.
   */
  append(requests: readonly AppendRequest[]): AppendOutcome[] {
    const bodies = requests.map(({ stream, json }) => this.#bodyOf(stream, json));
    return inTransaction(this.#db, () =>
      requests.map((request, n) => this.#appendOne(request, bodies[n] as Body)),
    );
  }

  /** Events of one stream, in order or newest first. */
  read({ stream, from, backwards, limit }: ReadRequest): RecordedEvent[] {
    const rows = (backwards ? this.#backwards : this.#forwards).iterate({ stream, from });
    const isWanted = ({ revision }: RecordedEvent) => (backwards ? revision <= from : revision >= from);
    return this.#collect(rows, limit, isWanted, backwards);
  }

  readAll({ after, categories, limit }: ReadAllRequest): RecordedEvent[] {
    const names = [...new Set(categories)];
    if (names.length === 0) return [];
    // No limit in SQL, as it would count appends.
    const rows = this.#statementOf(names.length).iterate(...names.flatMap((name) => [name, after]));
    const start = positionText(after);
    return this.#collect(rows, limit, ({ position }) => position > start, false);
  }

  readStored({ after, limit }: ReadStoredRequest): StoredText[] {
    const start = positionText(after);
    const found: StoredText[] = [];
    for (const row of this.#everyAppend.iterate(after) as Iterable<AppendRow>) {
      if (found.length >= limit) break;
      for (const text of textsOfRow(row, this.#dictionariesFor(row)))
        if (text.position > start) found.push(text);
    }
    return found.slice(0, limit);
  }

  /** What the schema, SQLite's own check and the numbers of the appends say. */
  structureProblems(): StructureProblem[] {
    return fileProblems(this.#db);
  }

  /** Runs all reads of `work` in one snapshot, and locks the file once for them. */
  inSnapshot<T>(work: () => T): T {
    return inSnapshot(this.#db, work);
  }

  /** Position of the last event; 0 when there is none. */
  head(): number {
    return (this.#head.get() as { position: number | null }).position ?? 0;
  }

  close(): void {
    this.#db.close();
  }

  #bodyOf(stream: string, json: string): Body {
    const dictionary = this.#dictionaries.get(DICTIONARY);
    if (categoryOf(stream) !== COMPRESSED || !dictionary) return { dictionary: null, body: json };
    return { dictionary: DICTIONARY, body: compressed(json, dictionary) };
  }

  #appendOne(
    { stream, expected, recordedAt, ids }: AppendRequest,
    { dictionary, body }: Body,
  ): AppendOutcome {
    const last = this.#lastRevision(stream);
    const before = expected === "none" ? -1 : expected;
    const revision = before + ids.length;
    if (last !== before) {
      const there =
        last < revision ? [] : this.read({ stream, from: before + 1, backwards: false, limit: ids.length });
      const isRepeated = there.length > 0 && ids.every((id, n) => there[n]?.id === id);
      if (isRepeated) return { revision, position: Number(there.at(-1)?.position) };
      return { actual: last < 0 ? "none" : last };
    }
    const position = this.head() + ids.length;
    this.#insert.run(position, stream, revision, ids.length, recordedAt, dictionary, body);
    return { revision, position };
  }

  #lastRevision(stream: string): number {
    return (this.#last.get(stream) as { revision: number } | undefined)?.revision ?? -1;
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

  #collect(
    rows: Iterable<unknown>,
    limit: number,
    isWanted: (event: RecordedEvent) => boolean,
    backwards: boolean,
  ): RecordedEvent[] {
    const found: RecordedEvent[] = [];
    if (limit <= 0) return found;
    for (const row of rows as Iterable<AppendRow>) {
      const events = this.#eventsOf(row).filter(isWanted);
      for (const event of backwards ? events.reverse() : events) found.push(event);
      if (found.length >= limit) break;
    }
    return found.length > limit ? found.slice(0, limit) : found;
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

type Body = Pick<AppendRow, "dictionary" | "body">;
