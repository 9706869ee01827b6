// Events of the SQLite log that are stored in compressed batches instead of one row and three index entries per event.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { objectMakers } from "../object-makers.ts";
import type { RecordedEvent } from "../port.ts";
import { createBatchTables } from "./batch-schema.ts";
import { BatchTail } from "./batch-tail.ts";
import type { IdBounds, ReadAllRequest, ReadRequest } from "./log-requests.ts";
import { type IndexedBatch, mergeBatches } from "./merge-batches.ts";
import { positionText } from "./positions.ts";
import { categoryOf, type PrefixStatement, prefixStatements } from "./prefixes.ts";
import { BATCH_COLUMNS, eventsOfBatch, type StoredBatch } from "./stored-batch.ts";

/** Decoded batches kept: a reader that pages through the log continues inside the batch where its page ended. */
const KEPT_DECODED = 4;

/** `bounds`: smallest and greatest id; undefined when they are not known. */
type NewBatch = StoredBatch & { bounds: IdBounds | undefined };

export class SqliteBatches {
  readonly #insert: StatementSync;
  readonly #insertStream: StatementSync;
  readonly #delete: StatementSync;
  readonly #deleteStreams: StatementSync;
  readonly #lastRevision: StatementSync;
  readonly #head: StatementSync;
  readonly #at: StatementSync;
  readonly #between: StatementSync;
  readonly #forwards: StatementSync;
  readonly #backwards: StatementSync;
  readonly #aroundIds: StatementSync;
  readonly #ofPrefixes: (prefixes: readonly string[]) => PrefixStatement;
  readonly #tail: BatchTail;
  readonly #decoded = new Map<number, RecordedEvent[]>();
  readonly #makerOf = objectMakers();

  /** Creates the tables when missing; call it inside a transaction. */
  constructor(db: DatabaseSync) {
    createBatchTables(db);
    this.#insert = db.prepare("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.#insertStream = db.prepare("INSERT INTO segment_streams VALUES (?, ?, ?)");
    this.#delete = db.prepare("DELETE FROM segments WHERE last_position BETWEEN ? AND ?");
    this.#deleteStreams = db.prepare(
      "DELETE FROM segment_streams WHERE stream = ? AND last_position BETWEEN ? AND ?",
    );
    const either = (what: string) =>
      `SELECT ${what} FROM segments WHERE stream = $stream UNION ALL SELECT ${what} FROM segment_streams WHERE stream = $stream`;
    this.#lastRevision = db.prepare(
      `SELECT max(revision) AS revision FROM (${either("max(last_revision) AS revision")})`,
    );
    this.#head = db.prepare("SELECT max(last_position) AS position FROM segments");
    this.#at = db.prepare(`SELECT ${BATCH_COLUMNS} FROM segments WHERE last_position = ?`);
    this.#between = db.prepare(
      `SELECT ${BATCH_COLUMNS}, first_id, last_id FROM segments WHERE last_position BETWEEN ? AND ? ORDER BY last_position`,
    );
    const places = `SELECT last_position FROM (${either("last_position, last_revision")})`;
    this.#forwards = db.prepare(`${places} WHERE last_revision >= $from ORDER BY last_revision`);
    this.#backwards = db.prepare(`${places} WHERE $from >= 0 ORDER BY last_revision DESC`);
    this.#aroundIds = db.prepare(
      `SELECT ${BATCH_COLUMNS} FROM segments WHERE last_id >= ? AND first_id <= ?`,
    );
    const source = { table: "segments", columns: BATCH_COLUMNS, position: "last_position" };
    this.#ofPrefixes = prefixStatements(db, source);
    this.#tail = new BatchTail(db);
  }

  /** `position` and `revision` are those of the first event. Returns the last position. */
  insert(
    stream: string,
    body: Uint8Array,
    at: { count: number; bounds: IdBounds; position: number; revision: number; recordedAt: string },
  ): number {
    const { count, bounds, recordedAt } = at;
    const last = { last_position: at.position + count - 1, last_revision: at.revision + count - 1 };
    this.#put({ ...last, count, stream, recorded_at: recordedAt, body, bounds });
    this.#tail.grew(count);
    return last.last_position;
  }

  /** Merges consecutive small batches; call it inside a transaction. */
  mergeTail(): void {
    for (const { from, to } of this.#tail.rangesToMerge()) {
      const merged = this.#between.all(from, to) as IndexedBatch[];
      const { body, runs, bounds } = mergeBatches(merged, this.#makerOf);
      const last = runs.at(-1);
      if (!last) continue;
      const streams = new Map(runs.map(({ stream, revision, count }) => [stream, revision + count - 1]));
      for (const stream of streams.keys()) this.#deleteStreams.run(stream, from, to);
      this.#delete.run(from, to);
      const { stream, recordedAt: recorded_at } = last;
      const last_revision = last.revision + last.count - 1;
      const count = runs.reduce((sum, run) => sum + run.count, 0);
      this.#put({ last_position: to, count, stream, last_revision, recorded_at, body, bounds });
      streams.delete(last.stream);
      for (const [stream, revision] of streams) this.#insertStream.run(stream, revision, to);
    }
  }

  /**
   * Whether a batch has one of the ids; `bounds`: the smallest and the greatest of them. Cheap for ids that sort by time:
   * the index has few batches near new ids.
   */
  holdsAny(ids: () => readonly string[], bounds: IdBounds): boolean {
    const around = this.#aroundIds.all(...bounds) as StoredBatch[];
    if (around.length === 0) return false;
    const wanted = new Set(ids());
    return around.some((batch) => this.#eventsOf(batch).some(({ id }) => wanted.has(id)));
  }

  /** -1 when no batch has an event of the stream. */
  lastRevision(stream: string): number {
    return (this.#lastRevision.get({ stream }) as { revision: number | null }).revision ?? -1;
  }

  /** Position of the last event in a batch; 0 when there is none. */
  head(): number {
    return (this.#head.get() as { position: number | null }).position ?? 0;
  }

  /** At most `limit` rows of one stream, in the requested order. */
  read({ stream, from, backwards, limit }: ReadRequest): RecordedEvent[] {
    const start = from ?? (backwards ? Number.MAX_SAFE_INTEGER : 0);
    const wanted = (row: RecordedEvent) =>
      row.stream === stream && (backwards ? row.revision <= start : row.revision >= start);
    return this.#collect(this.#ofStream(stream, start, backwards), limit, (rows) => {
      const kept = rows.filter(wanted);
      return backwards ? kept.reverse() : kept;
    });
  }

  /** At most `limit` rows after the position, in order. */
  readAll({ after, prefixes, limit }: ReadAllRequest): RecordedEvent[] {
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
    return this.#collect(batches, limit, (rows) =>
      !partial && (rows[0]?.position ?? start) > start ? rows : rows.filter(wanted),
    );
  }

  /** The event with this id in a batch of the stream; searched from the end, because retries repeat recent appends. */
  find(stream: string, id: string): RecordedEvent | undefined {
    for (const batch of this.#ofStream(stream, Number.MAX_SAFE_INTEGER, true)) {
      const row = this.#eventsOf(batch).find((one) => one.id === id && one.stream === stream);
      if (row) return row;
    }
    return undefined;
  }

  *#ofStream(stream: string, from: number, backwards: boolean): Generator<StoredBatch> {
    const places = (backwards ? this.#backwards : this.#forwards).iterate({ stream, from });
    for (const { last_position } of places as Iterable<StoredBatch>)
      yield this.#at.get(last_position) as StoredBatch;
  }

  #put({ last_position, count, stream, last_revision, recorded_at, body, bounds }: NewBatch): void {
    const category = categoryOf(stream);
    const [first, last] = bounds ?? [null, null];
    this.#insert.run(last_position, count, category, stream, last_revision, recorded_at, body, first, last);
  }

  #collect(
    batches: Iterable<StoredBatch>,
    limit: number,
    select: (rows: RecordedEvent[]) => RecordedEvent[],
  ): RecordedEvent[] {
    const found: RecordedEvent[] = [];
    for (const batch of batches) {
      for (const row of select(this.#eventsOf(batch))) found.push(row);
      if (found.length >= limit) break;
    }
    return found.length > limit ? found.slice(0, limit) : found;
  }

  #eventsOf(batch: StoredBatch): RecordedEvent[] {
    const known = this.#decoded.get(batch.last_position);
    // A merge may have put a longer batch at the same last position.
    if (known?.length === batch.count) return known;
    const rows = eventsOfBatch(batch, this.#makerOf);
    this.#decoded.delete(batch.last_position);
    this.#decoded.set(batch.last_position, rows);
    if (this.#decoded.size > KEPT_DECODED) this.#decoded.delete(this.#decoded.keys().next().value ?? 0);
    return rows;
  }
}

/** Prefix of the whole category: batches are indexed by category, and their events are filtered by stream. */
function ofCategory(prefix: string): string {
  return prefix.slice(0, prefix.indexOf("-") + 1) || prefix;
}
