// Events of the SQLite log that are kept compressed, many in a row, instead of one row and three index entries an event.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type PrefixStatement, prefixStatements } from "./sqlite-prefix-statements.ts";
import { categoryOf } from "./sqlite-prefixes.ts";
import type { EventRow, ReadAllRequest, ReadRequest } from "./sqlite-rows.ts";
import { mergedBody, rowsOfBody } from "./sqlite-segment-body.ts";
import { TailOfSegments } from "./sqlite-segment-tail.ts";

/**
 * A segment is what one append brought, or several of them merged: events of one category, and no other segment of
 * it holds a position between its first and its last. `stream` and `last_revision` are its last event's;
 * `segment_streams` knows the other streams of a merged one. `first_id` and `last_id`: in the order of text; null in
 * logs written before. `body`: see sqlite-segment-body.ts.
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

type Segment = {
  last_position: number;
  count: number;
  stream: string;
  last_revision: number;
  recorded_at: string;
  body: Uint8Array;
};
type NewSegment = Segment & { ids: readonly string[] };

export class SqliteSegments {
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
  readonly #tail: TailOfSegments;
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
      `SELECT ${COLUMNS} FROM segments WHERE last_position BETWEEN ? AND ? ORDER BY last_position`,
    );
    const places = `SELECT last_position FROM (${either("last_position, last_revision")})`;
    this.#forwards = db.prepare(`${places} WHERE last_revision >= $from ORDER BY last_revision`);
    this.#backwards = db.prepare(`${places} WHERE $from >= 0 ORDER BY last_revision DESC`);
    this.#aroundIds = db.prepare(`SELECT ${COLUMNS} FROM segments WHERE last_id >= ? AND first_id <= ?`);
    const source = { table: "segments", columns: COLUMNS, position: "last_position" };
    this.#ofPrefixes = prefixStatements(db, source);
    this.#tail = new TailOfSegments(db);
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
      const rows = (this.#between.all(from, to) as Segment[]).flatMap(decode);
      const last = rows.at(-1);
      if (!last) continue;
      const streams = new Map(rows.map(({ stream, revision }) => [stream, revision]));
      for (const stream of streams.keys()) this.#deleteStreams.run(stream, from, to);
      this.#delete.run(from, to);
      this.#put({
        ...{ last_position: last.position, count: rows.length, stream: last.stream },
        ...{ last_revision: last.revision, recorded_at: last.recordedAt, body: mergedBody(rows) },
        ids: rows.map(({ id }) => id),
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
      if (this.#rowsOf(segment as Segment).some(({ id }) => wanted.has(id))) return true;
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
    }) as Iterable<Segment>;
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

  *#ofStream(stream: string, from: number, backwards: boolean): Generator<Segment> {
    const places = (backwards ? this.#backwards : this.#forwards).iterate({ stream, from });
    for (const { last_position } of places as Iterable<Segment>) yield this.#at.get(last_position) as Segment;
  }

  #put({ last_position, count, stream, last_revision, recorded_at, body, ids }: NewSegment): void {
    const category = categoryOf(stream);
    const [first, last] = textBounds(ids);
    this.#insert.run(last_position, count, category, stream, last_revision, recorded_at, body, first, last);
  }

  #collect(segments: Iterable<Segment>, limit: number, choose: (rows: EventRow[]) => EventRow[]): EventRow[] {
    const found: EventRow[] = [];
    for (const segment of segments) {
      for (const row of choose(this.#rowsOf(segment))) found.push(row);
      if (found.length >= limit) break;
    }
    return found.length > limit ? found.slice(0, limit) : found;
  }

  #rowsOf(segment: Segment): EventRow[] {
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

function decode({ count, stream, recorded_at, body, last_position, last_revision }: Segment): EventRow[] {
  const first = { position: last_position - count + 1, revision: last_revision - count + 1 };
  return rowsOfBody(body, count, { stream, recordedAt: recorded_at, ...first });
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
