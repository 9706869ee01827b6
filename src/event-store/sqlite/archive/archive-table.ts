// The list of archive files in the SQLite log, and the batches of the log that lie in their range of positions.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { ArchiveFile } from "../../log-archive.ts";
import { positionText } from "../positions.ts";
import { ARCHIVED, type ArchivedBatch } from "./archived-body.ts";

/** `moved`: 0 as long as some of the events lie in the file and in the log. */
export type ArchiveRow = {
  file: string;
  category: string;
  day: string;
  first_position: number;
  last_position: number;
  events: number;
  bytes: number;
  sha256: string;
  moved: number;
};

/** What tells whether a batch has changed since it was listed. `bytes`: of its body. */
export type ListedBatch = {
  last_position: number;
  count: number;
  category: string;
  recorded_at: string;
  bytes: number;
};

/** Bytes; SQLite knows the length of a body without reading it. */
const LONGEST_REFERENCE = 1_000;
const LISTED = "last_position, count, category, recorded_at, length(body) AS bytes";
const IN_NO_FILE = `NOT EXISTS (
  SELECT 1 FROM archives WHERE segments.last_position BETWEEN archives.first_position AND archives.last_position
)`;

export class ArchiveTable {
  readonly #insert: StatementSync;
  readonly #delete: StatementSync;
  readonly #setMoved: StatementSync;
  readonly #all: StatementSync;
  readonly #unarchived: StatementSync;
  readonly #listed: StatementSync;
  readonly #events: StatementSync;
  readonly #archived: StatementSync;

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare("INSERT INTO archives VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)");
    this.#delete = db.prepare("DELETE FROM archives WHERE file = ?");
    this.#setMoved = db.prepare("UPDATE archives SET moved = 1 WHERE file = ?");
    this.#all = db.prepare("SELECT * FROM archives ORDER BY first_position");
    this.#unarchived = db.prepare(
      `SELECT ${LISTED} FROM segments WHERE category = ? AND ${IN_NO_FILE} ORDER BY segments.last_position`,
    );
    this.#listed = db.prepare(
      `SELECT ${LISTED} FROM segments WHERE last_position BETWEEN ? AND ? ORDER BY last_position`,
    );
    this.#events = db.prepare(
      "SELECT coalesce(sum(count), 0) AS events FROM segments WHERE category = ? AND last_position BETWEEN ? AND ?",
    );
    this.#archived = db.prepare(
      `SELECT last_position, count, stream, last_revision, body FROM segments
       WHERE length(body) < ${LONGEST_REFERENCE} AND substr(body, 1, 1) = ? AND json_valid(CAST(substr(body, 2) AS TEXT))
       ORDER BY last_position`,
    );
  }

  insert({ file, category, day, first_position, last_position, events, bytes, sha256 }: ArchiveRow): void {
    this.#insert.run(file, category, day, first_position, last_position, events, bytes, sha256);
  }

  delete(file: string): void {
    this.#delete.run(file);
  }

  setMoved(file: string): void {
    this.#setMoved.run(file);
  }

  all(): ArchiveRow[] {
    return this.#all.all() as ArchiveRow[];
  }

  has(file: string): boolean {
    return this.all().some((row) => row.file === file);
  }

  /** Batches of a category that no file has, in their order. */
  unarchived(category: string): Iterable<ListedBatch> {
    return this.#unarchived.iterate(category) as Iterable<ListedBatch>;
  }

  /** Batches of any category whose last event lies between two positions, both included. */
  listed(from: number, to: number): ListedBatch[] {
    return this.#listed.all(from, to) as ListedBatch[];
  }

  /** All batches whose events lie in a file. */
  archived(): ArchivedBatch[] {
    return this.#archived.all(Buffer.of(ARCHIVED)) as ArchivedBatch[];
  }

  /** How many events of the file's range there are, in the log or in files. */
  eventsIn({ category, first_position, last_position }: ArchiveRow): number {
    return (this.#events.get(category, first_position, last_position) as { events: number }).events;
  }
}

export function archiveFileOf(row: ArchiveRow): ArchiveFile {
  const { file, day, events, bytes, sha256 } = row;
  const [from, to] = [positionText(row.first_position), positionText(row.last_position)];
  return { file, day, from, to, events, bytes, sha256 };
}
