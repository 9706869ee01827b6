// Large appends of the SQLite log: one compressed row a batch instead of one row and three index entries an event.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type PrefixStatement, prefixStatements } from "./sqlite-prefix-statements.ts";
import { categoryOf } from "./sqlite-prefixes.ts";
import type { EventRow, ReadAllRequest, ReadRequest } from "./sqlite-rows.ts";
import { eventsOfBody } from "./sqlite-segment-body.ts";

/** `body`: see sqlite-segment-body.ts. A segment covers consecutive revisions of its stream and positions. */
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

export class SqliteSegments {
  readonly #insert: StatementSync;
  readonly #lastRevision: StatementSync;
  readonly #head: StatementSync;
  readonly #forwards: StatementSync;
  readonly #backwards: StatementSync;
  readonly #ofPrefixes: (prefixes: readonly string[]) => PrefixStatement;
  readonly #open = new Map<number, EventRow[]>();

  /** Inside the transaction that makes the schema. */
  constructor(db: DatabaseSync) {
    db.exec(SCHEMA);
    this.#insert = db.prepare("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?)");
    this.#lastRevision = db.prepare("SELECT max(last_revision) AS revision FROM segments WHERE stream = ?");
    this.#head = db.prepare("SELECT max(last_position) AS position FROM segments");
    const source = { table: "segments", columns: COLUMNS, position: "last_position" };
    this.#ofPrefixes = prefixStatements(db, source);
    const ofStream = `SELECT ${COLUMNS} FROM segments WHERE stream = ?`;
    this.#forwards = db.prepare(`${ofStream} AND last_revision >= ? ORDER BY last_revision`);
    this.#backwards = db.prepare(
      `${ofStream} AND last_revision - count + 1 <= ? ORDER BY last_revision DESC`,
    );
  }

  /** `position` and `revision` are those of the first of `count` events. Answers the last position. */
  insert(
    stream: string,
    body: Uint8Array,
    at: { count: number; position: number; revision: number; recordedAt: string },
  ) {
    const { count, recordedAt } = at;
    const last = { position: at.position + count - 1, revision: at.revision + count - 1 };
    this.#insert.run(last.position, count, categoryOf(stream), stream, last.revision, recordedAt, body);
    return last.position;
  }

  /** -1 when no segment is of this stream. */
  lastRevision(stream: string): number {
    return (this.#lastRevision.get(stream) as { revision: number | null }).revision ?? -1;
  }

  /** 0 when there is none. */
  head(): number {
    return (this.#head.get() as { position: number | null }).position ?? 0;
  }

  /** At most `limit` rows of one stream, in the order asked for. */
  read({ stream, from, backwards, limit }: ReadRequest): EventRow[] {
    const start = from ?? (backwards ? Number.MAX_SAFE_INTEGER : 0);
    const wanted = ({ revision }: EventRow) => (backwards ? revision <= start : revision >= start);
    const segments = (backwards ? this.#backwards : this.#forwards).iterate(stream, start);
    return this.#collect(segments, limit, (rows) => {
      const kept = rows.filter(wanted);
      return backwards ? kept.reverse() : kept;
    });
  }

  /** At most `limit` rows behind the position, in order. */
  readAll({ after, prefixes, limit }: ReadAllRequest): EventRow[] {
    const { statement, bounds } = this.#ofPrefixes(prefixes);
    const segments = statement.iterate({ ...bounds, after, limit });
    return this.#collect(segments, limit, (rows) =>
      (rows[0]?.position ?? 0) > after ? rows : rows.filter(({ position }) => position > after),
    );
  }

  /** The event of this id, if it is in a segment of the stream: read from the end, as only retries ask. */
  find(stream: string, id: string): EventRow | undefined {
    for (const segment of this.#backwards.iterate(stream, Number.MAX_SAFE_INTEGER)) {
      const row = this.#rowsOf(segment as Segment).find((one) => one.id === id);
      if (row) return row;
    }
    return undefined;
  }

  #collect(segments: Iterable<unknown>, limit: number, choose: (rows: EventRow[]) => EventRow[]): EventRow[] {
    const found: EventRow[] = [];
    for (const segment of segments) {
      for (const row of choose(this.#rowsOf(segment as Segment))) found.push(row);
      if (found.length >= limit) break;
    }
    return found.length > limit ? found.slice(0, limit) : found;
  }

  #rowsOf(segment: Segment): EventRow[] {
    const known = this.#open.get(segment.last_position);
    if (known) return known;
    const rows = decode(segment);
    this.#open.set(segment.last_position, rows);
    if (this.#open.size > KEPT_OPEN) this.#open.delete(this.#open.keys().next().value ?? 0);
    return rows;
  }
}

function decode(segment: Segment): EventRow[] {
  const { count, stream, recorded_at: recordedAt } = segment;
  const position = segment.last_position - count + 1;
  const revision = segment.last_revision - count + 1;
  return eventsOfBody(segment.body, count).map(({ id, type, data, metadata }, index) => ({
    position: position + index,
    stream,
    revision: revision + index,
    id,
    type,
    data,
    metadata,
    recordedAt,
  }));
}
