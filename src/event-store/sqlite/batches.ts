// Events of the SQLite log that are stored in compressed batches instead of one row and three index entries per event.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { RecordedEvent } from "../port.ts";
import { BATCH_COLUMNS, createBatchTables, type StoredBatch } from "./batch-schema.ts";
import { BatchWriter } from "./batch-writer.ts";
import type { IdBounds, ReadAllRequest, ReadRequest } from "./log-requests.ts";
import { positionText } from "./positions.ts";
import { categoryOf, type PrefixStatement, prefixStatements } from "./prefixes.ts";
import type { DecodedBatches } from "./stored-batch.ts";

/** Events of the batches that a search looks at before it answers, as its thread does nothing else meanwhile. */
const SEARCHED_AT_A_TIME = 100_000;

export class SqliteBatches {
  readonly #ofCategory: StatementSync;
  readonly #lastRevision: StatementSync;
  readonly #head: StatementSync;
  readonly #at: StatementSync;
  readonly #forwards: StatementSync;
  readonly #backwards: StatementSync;
  readonly #aroundIds: StatementSync;
  readonly #ofPrefixes: (prefixes: readonly string[]) => PrefixStatement;
  readonly #decoded: DecodedBatches;

  readonly writer: BatchWriter;

  /** Creates the tables when missing; call it inside a transaction. */
  constructor(db: DatabaseSync, decoded: DecodedBatches) {
    createBatchTables(db);
    this.#decoded = decoded;
    this.writer = new BatchWriter(db);
    const either = (what: string) =>
      `SELECT ${what} FROM segments WHERE stream = $stream UNION ALL SELECT ${what} FROM segment_streams WHERE stream = $stream`;
    this.#ofCategory = db.prepare("SELECT 1 FROM segments WHERE category = ? LIMIT 1");
    this.#lastRevision = db.prepare(
      `SELECT max(revision) AS revision FROM (${either("max(last_revision) AS revision")})`,
    );
    this.#head = db.prepare("SELECT max(last_position) AS position FROM segments");
    this.#at = db.prepare(`SELECT ${BATCH_COLUMNS} FROM segments WHERE last_position = ?`);
    const places = `SELECT last_position FROM (${either("last_position, last_revision")})`;
    this.#forwards = db.prepare(`${places} WHERE last_revision >= $from ORDER BY last_revision`);
    this.#backwards = db.prepare(`${places} WHERE $from >= 0 ORDER BY last_revision DESC`);
    this.#aroundIds = db.prepare(
      `SELECT ${BATCH_COLUMNS} FROM segments WHERE last_id >= ? AND first_id <= ?`,
    );
    const source = { table: "segments", columns: BATCH_COLUMNS, position: "last_position" };
    this.#ofPrefixes = prefixStatements(db, source);
  }

  /**
   * Whether a batch has one of the ids; `bounds`: the smallest and the greatest of them. Cheap for ids that sort by time:
   * the index has few batches near new ids.
   */
  holdsAny(ids: () => readonly string[], bounds: IdBounds): boolean {
    const around = this.#aroundIds.all(...bounds) as StoredBatch[];
    if (around.length === 0) return false;
    const wanted = new Set(ids());
    return around.some((batch) => this.#decoded.eventsOf(batch).some(({ id }) => wanted.has(id)));
  }

  /** -1 when no batch has an event of the stream. */
  lastRevision(stream: string): number {
    if (!this.#hasBatches(stream)) return -1;
    return (this.#lastRevision.get({ stream }) as { revision: number | null }).revision ?? -1;
  }

  /** Position of the last event in a batch; 0 when there is none. */
  head(): number {
    return (this.#head.get() as { position: number | null }).position ?? 0;
  }

  /** At most `limit` rows of one stream, in the requested order. */
  read({ stream, from, backwards, limit }: ReadRequest): RecordedEvent[] {
    if (!this.#hasBatches(stream)) return [];
    const wanted = (row: RecordedEvent) =>
      row.stream === stream && (backwards ? row.revision <= from : row.revision >= from);
    return this.#collect(this.#ofStream(stream, from, backwards), limit, (rows) => {
      const kept = rows.filter(wanted);
      return backwards ? kept.reverse() : kept;
    });
  }

  /**
   * At most `limit` rows after the position, in order. `mentions`: rows without it may be left out, but for the last one
   * of an answer that ends before the last batch.
   */
  readAll({ after, prefixes, limit, mentions }: ReadAllRequest): RecordedEvent[] {
    const { statement, bounds } = this.#ofPrefixes(prefixes.map(ofCategory));
    // No limit in SQL: it would count batches, and a batch may have no matching event.
    const batches = statement.iterate({
      ...bounds,
      after,
      limit: Number.MAX_SAFE_INTEGER,
    }) as Iterable<StoredBatch>;
    const partial = prefixes.some((prefix) => prefix !== ofCategory(prefix));
    const start = positionText(after);
    const wanted = ({ stream, position }: RecordedEvent) =>
      position > start && (!partial || prefixes.some((prefix) => stream.startsWith(prefix)));
    const select = (rows: RecordedEvent[]) =>
      !partial && (rows[0]?.position ?? start) > start ? rows : rows.filter(wanted);
    const text = mentions === undefined ? undefined : Buffer.from(JSON.stringify(mentions));
    return this.#collect(batches, limit, select, text);
  }

  /** The event with this id in a batch of the stream; searched from the end, because retries repeat recent appends. */
  find(stream: string, id: string): RecordedEvent | undefined {
    for (const batch of this.#ofStream(stream, Number.MAX_SAFE_INTEGER, true)) {
      const row = this.#decoded.eventsOf(batch).find((one) => one.id === id && one.stream === stream);
      if (row) return row;
    }
    return undefined;
  }

  /** Whether the stream's category has any: most streams are rows only, and asking takes a tenth of a search in batches. */
  #hasBatches(stream: string): boolean {
    return this.#ofCategory.get(categoryOf(stream)) !== undefined;
  }

  *#ofStream(stream: string, from: number, backwards: boolean): Generator<StoredBatch> {
    const places = (backwards ? this.#backwards : this.#forwards).iterate({ stream, from });
    for (const { last_position } of places as Iterable<StoredBatch>)
      yield this.#at.get(last_position) as StoredBatch;
  }

  /** `text`: parts without it are left out, and the answer may end before the last batch. */
  #collect(
    batches: Iterable<StoredBatch>,
    limit: number,
    select: (rows: RecordedEvent[]) => RecordedEvent[],
    text?: Buffer,
  ): RecordedEvent[] {
    const found: RecordedEvent[] = [];
    let searched = 0;
    for (const batch of batches) {
      const rows = text ? this.#decoded.mentioning(batch, text) : this.#decoded.eventsOf(batch);
      for (const row of select(rows)) found.push(row);
      if (found.length >= limit) break;
      searched += batch.count;
      if (!text || searched < SEARCHED_AT_A_TIME) continue;
      const last = select(this.#decoded.eventsOf(batch)).at(-1);
      if (last && last.position !== found.at(-1)?.position) found.push(last);
      if (last) break;
    }
    return found.length > limit ? found.slice(0, limit) : found;
  }
}

/** Prefix of the whole category: batches are indexed by category, and their events are filtered by stream. */
function ofCategory(prefix: string): string {
  return prefix.slice(0, prefix.indexOf("-") + 1) || prefix;
}
