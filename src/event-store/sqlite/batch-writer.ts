// Writes event batches of the SQLite log: new ones, and one in the place of several.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { objectMakers } from "../object-makers.ts";
import { BATCH_COLUMNS, type StoredBatch } from "./batch-schema.ts";
import { type BatchRange, BatchTail } from "./batch-tail.ts";
import type { IdBounds } from "./log-requests.ts";
import { type IndexedBatch, type MergedBatch, mergeBatches } from "./merge-batches.ts";
import { categoryOf } from "./prefixes.ts";

/** `bounds`: smallest and greatest id; undefined when they are not known. */
type NewBatch = StoredBatch & { bounds: IdBounds | undefined };

/** The methods are called inside a transaction. */
export class BatchWriter {
  readonly #insert: StatementSync;
  readonly #insertStream: StatementSync;
  readonly #delete: StatementSync;
  readonly #deleteStreams: StatementSync;
  readonly #between: StatementSync;
  readonly #tail: BatchTail;
  readonly #makerOf = objectMakers();

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.#insertStream = db.prepare("INSERT INTO segment_streams VALUES (?, ?, ?)");
    this.#delete = db.prepare("DELETE FROM segments WHERE last_position BETWEEN ? AND ?");
    this.#deleteStreams = db.prepare(
      "DELETE FROM segment_streams WHERE stream = ? AND last_position BETWEEN ? AND ?",
    );
    this.#between = db.prepare(
      `SELECT ${BATCH_COLUMNS}, first_id, last_id FROM segments WHERE last_position BETWEEN ? AND ? ORDER BY last_position`,
    );
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

  /** Merges consecutive small batches. */
  mergeTail(): void {
    for (const range of this.#tail.rangesToMerge())
      this.replace(range, mergeBatches(this.between(range), this.#makerOf));
  }

  between({ from, to }: BatchRange): IndexedBatch[] {
    return this.#between.all(from, to) as IndexedBatch[];
  }

  /** Puts one batch with the same events in the place of all batches of the range; none has other events between. */
  replace({ from, to }: BatchRange, { body, runs, bounds }: MergedBatch): void {
    const last = runs.at(-1);
    if (!last) return;
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

  #put({ last_position, count, stream, last_revision, recorded_at, body, bounds }: NewBatch): void {
    const category = categoryOf(stream);
    const [first, last] = bounds ?? [null, null];
    this.#insert.run(last_position, count, category, stream, last_revision, recorded_at, body, first, last);
  }
}
