// Events of the SQLite log that are kept compressed, many in a row, instead of one row and three index entries an event.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { NewEvent } from "../port.ts";
import { batchBody, eventsOfBody } from "./batch-body.ts";
import type { EventPlace } from "./batch-runs.ts";
import { BatchTail } from "./batch-tail.ts";
import { isMerged, mergedBody, rowsOfMerged } from "./merged-body.ts";
import { type PrefixStatement, prefixStatements } from "./prefix-statements.ts";
import { categoryOf } from "./prefixes.ts";
import type { EventRow, ReadAllRequest, ReadRequest } from "./rows.ts";

/**
 * A segment is what one append brought, or several of them merged: events of one category, and no other segment of
 * it holds a position between its first and its last. `stream` and `last_revision` are its last event's;
 * `segment_streams` knows the other streams of a merged one. `first_id` and `last_id`: in the order of text; null in
 * logs written before. `body`: see sqlite/batch-body.ts.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS segments (
    last_position INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    category TEXT NOT NULL,
    stream TEXT NOT NULL,
    last_revision INTEGER NOT NULL,
    recorded_at TEXT NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (stream, last_revision)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS segments_by_category ON segments (category, last_position);
`;
const SCHEMA_2 = `
  ALTER TABLE segments ADD COLUMN first_id TEXT;
  ALTER TABLE segments ADD COLUMN last_id TEXT;
  CREATE INDEX segments_by_id ON segments (last_id, first_id);
  CREATE TABLE segment_streams (
    stream TEXT NOT NULL,
    last_revision INTEGER NOT NULL,
    last_position INTEGER NOT NULL,
    PRIMARY KEY (stream, last_revision)
  ) STRICT, WITHOUT ROWID;
`;

const COLUMNS = "last_position, count, stream, last_revision, recorded_at, body";
/** A reader goes on in the middle of the segment in which its last batch ended. */
const KEPT_OPEN = 4;
/** Segments of fewer events on average are written anew when they are merged. */
const FEW = 16;

type StoredBatch = {
  last_position: number;
  count: number;
  stream: string;
  last_revision: number;
  recorded_at: string;
  body: Uint8Array;
};
type IndexedBatch = StoredBatch & { first_id: string | null; last_id: string | null };
/** `ids`: the smallest and the greatest are among them; none when that isn't known. */
type NewBatch = StoredBatch & { ids: readonly string[] };

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
  readonly #open = new Map<number, EventRow[]>();

  /** Inside the transaction that makes the schema. */
  constructor(db: DatabaseSync) {
    db.exec(SCHEMA);
    const columns = db.prepare("SELECT name FROM pragma_table_info('segments')").all();
    if (!columns.some(({ name }) => name === "first_id")) db.exec(SCHEMA_2);
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
    this.#at = db.prepare(`SELECT ${COLUMNS} FROM segments WHERE last_position = ?`);
    this.#between = db.prepare(
      `SELECT ${COLUMNS}, first_id, last_id FROM segments WHERE last_position BETWEEN ? AND ? ORDER BY last_position`,
    );
    const places = `SELECT last_position FROM (${either("last_position, last_revision")})`;
    this.#forwards = db.prepare(`${places} WHERE last_revision >= $from ORDER BY last_revision`);
    this.#backwards = db.prepare(`${places} WHERE $from >= 0 ORDER BY last_revision DESC`);
    this.#aroundIds = db.prepare(`SELECT ${COLUMNS} FROM segments WHERE last_id >= ? AND first_id <= ?`);
    const source = { table: "segments", columns: COLUMNS, position: "last_position" };
    this.#ofPrefixes = prefixStatements(db, source);
    this.#tail = new BatchTail(db);
  }

  /** `position` and `revision` are those of the first of the events. Answers the last position. */
  insert(
    stream: string,
    body: Uint8Array,
    at: { ids: readonly string[]; position: number; revision: number; recordedAt: string },
  ): number {
    const { ids, recordedAt } = at;
    const count = ids.length;
    const last = { last_position: at.position + count - 1, last_revision: at.revision + count - 1 };
    this.#put({ ...last, count, stream, recorded_at: recordedAt, body, ids });
    this.#tail.grew(count);
    return last.last_position;
  }

  /** Segments of few events that follow each other become one. Inside a transaction. */
  mergeTail(): void {
    for (const { from, to } of this.#tail.runsToMerge()) {
      const segments = this.#between.all(from, to) as IndexedBatch[];
      const { body, places, ids } = hasFewEach(segments) ? rewritten(segments) : joined(segments);
      const last = places.at(-1);
      if (!last) continue;
      const streams = new Map(places.map(({ stream, revision }) => [stream, revision]));
      for (const stream of streams.keys()) this.#deleteStreams.run(stream, from, to);
      this.#delete.run(from, to);
      this.#put({
        ...{ last_position: last.position, count: places.length, stream: last.stream, body, ids },
        ...{ last_revision: last.revision, recorded_at: last.recordedAt },
      });
      streams.delete(last.stream);
      for (const [stream, revision] of streams) this.#insertStream.run(stream, revision, last.position);
    }
  }

  /** Whether one of the ids is in a segment. Ids that sort by time make it a look at the end of an index. */
  holdsAny(ids: readonly string[]): boolean {
    const wanted = new Set(ids);
    const [first, last] = textBounds(ids);
    for (const segment of this.#aroundIds.iterate(first, last))
      if (this.#rowsOf(segment as StoredBatch).some(({ id }) => wanted.has(id))) return true;
    return false;
  }

  /** -1 when no segment is of this stream. */
  lastRevision(stream: string): number {
    return (this.#lastRevision.get({ stream }) as { revision: number | null }).revision ?? -1;
  }

  /** 0 when there is none. */
  head(): number {
    return (this.#head.get() as { position: number | null }).position ?? 0;
  }

  /** At most `limit` rows of one stream, in the order asked for. */
  read({ stream, from, backwards, limit }: ReadRequest): EventRow[] {
    const start = from ?? (backwards ? Number.MAX_SAFE_INTEGER : 0);
    const wanted = (row: EventRow) =>
      row.stream === stream && (backwards ? row.revision <= start : row.revision >= start);
    return this.#collect(this.#ofStream(stream, start, backwards), limit, (rows) => {
      const kept = rows.filter(wanted);
      return backwards ? kept.reverse() : kept;
    });
  }

  /** At most `limit` rows behind the position, in order. */
  readAll({ after, prefixes, limit }: ReadAllRequest): EventRow[] {
    const { statement, bounds } = this.#ofPrefixes(prefixes.map(ofCategory));
    // The limit counts events, and of a segment perhaps none is wanted.
    const segments = statement.iterate({
      ...bounds,
      after,
      limit: Number.MAX_SAFE_INTEGER,
    }) as Iterable<StoredBatch>;
    const partial = prefixes.some((prefix) => prefix !== ofCategory(prefix));
    const wanted = ({ stream, position }: EventRow) =>
      position > after && (!partial || prefixes.some((prefix) => stream.startsWith(prefix)));
    return this.#collect(segments, limit, (rows) =>
      !partial && (rows[0]?.position ?? 0) > after ? rows : rows.filter(wanted),
    );
  }

  /** The event of this id, if it is in a segment of the stream: read from the end, as only retries ask. */
  find(stream: string, id: string): EventRow | undefined {
    for (const segment of this.#ofStream(stream, Number.MAX_SAFE_INTEGER, true)) {
      const row = this.#rowsOf(segment).find((one) => one.id === id && one.stream === stream);
      if (row) return row;
    }
    return undefined;
  }

  *#ofStream(stream: string, from: number, backwards: boolean): Generator<StoredBatch> {
    const places = (backwards ? this.#backwards : this.#forwards).iterate({ stream, from });
    for (const { last_position } of places as Iterable<StoredBatch>)
      yield this.#at.get(last_position) as StoredBatch;
  }

  #put({ last_position, count, stream, last_revision, recorded_at, body, ids }: NewBatch): void {
    const category = categoryOf(stream);
    const [first, last] = ids.length > 0 ? textBounds(ids) : [null, null];
    this.#insert.run(last_position, count, category, stream, last_revision, recorded_at, body, first, last);
  }

  #collect(
    segments: Iterable<StoredBatch>,
    limit: number,
    choose: (rows: EventRow[]) => EventRow[],
  ): EventRow[] {
    const found: EventRow[] = [];
    for (const segment of segments) {
      for (const row of choose(this.#rowsOf(segment))) found.push(row);
      if (found.length >= limit) break;
    }
    return found.length > limit ? found.slice(0, limit) : found;
  }

  #rowsOf(segment: StoredBatch): EventRow[] {
    const known = this.#open.get(segment.last_position);
    // Merging makes a longer one of it.
    if (known?.length === segment.count) return known;
    const rows = decode(segment);
    this.#open.delete(segment.last_position);
    this.#open.set(segment.last_position, rows);
    if (this.#open.size > KEPT_OPEN) this.#open.delete(this.#open.keys().next().value ?? 0);
    return rows;
  }
}

function decode(segment: StoredBatch): EventRow[] {
  if (isMerged(segment.body)) return rowsOfMerged(segment.body);
  const events = eventsOfBody(segment.body, segment.count);
  return placesOf(segment).map((place, index) => ({ ...place, ...(events[index] as NewEvent) }));
}

/** Of a segment that one append brought. */
function placesOf({
  count,
  stream,
  recorded_at: recordedAt,
  last_position,
  last_revision,
}: StoredBatch): EventPlace[] {
  const [position, revision] = [last_position - count + 1, last_revision - count + 1];
  return Array.from({ length: count }, (_, index) => ({
    ...{ position: position + index, stream, revision: revision + index, recordedAt },
  }));
}

function hasFewEach(segments: readonly StoredBatch[]): boolean {
  const events = segments.reduce((sum, { count }) => sum + count, 0);
  return events < FEW * segments.length || segments.some(({ body }) => isMerged(body));
}

type Merger = { body: Uint8Array; places: EventPlace[]; ids: string[] };

/** As if all events had come in one append: the smallest, and the dearest. */
function rewritten(segments: readonly StoredBatch[]): Merger {
  const rows = segments.flatMap(decode);
  const events = rows.map(({ id, type, data, metadata }) => ({ id, type, data, metadata }));
  const places = rows.map(({ stream, revision, position, recordedAt }) => ({
    ...{ stream, revision, position, recordedAt },
  }));
  const body = mergedBody(places, [{ count: rows.length, body: batchBody(events) }]);
  return { body, places, ids: events.map(({ id }) => id) };
}

/** Bodies of some events each are dense enough as they are; what they lose by themselves is room in half-filled pages. */
function joined(segments: readonly IndexedBatch[]): Merger {
  const places = segments.flatMap(placesOf);
  const ids = segments.flatMap(({ first_id, last_id }) => [first_id, last_id]).filter((id) => id !== null);
  return { body: mergedBody(places, segments), places, ids };
}

/** The first and the last id in the order of text. */
export function textBounds(ids: readonly string[]): [string, string] {
  let [first = "", last = ""] = [ids[0], ids[0]];
  for (const id of ids) {
    if (id < first) first = id;
    if (id > last) last = id;
  }
  return [first, last];
}

/** All streams of a segment are of one category. */
function ofCategory(prefix: string): string {
  return prefix.slice(0, prefix.indexOf("-") + 1) || prefix;
}
