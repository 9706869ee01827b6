// Selects the newest batches that are worth merging: a batch of a single click takes about a kilobyte.
import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Batches from one `last_position` to another, both included. */
export type BatchRange = { from: number; to: number };

/** A batch of at least this many events is not merged; smaller ones are merged into batches of about this size. */
const FULL = 512;
/** Fewest batches to merge: with fewer, their average size is large enough. */
const WORTH_MERGING = 8;
/** Most batches that are searched backwards for a full one when the log is opened. */
const LOOK_BACK = 4_096;
const PAGE = 1_024;

type Size = { last_position: number; count: number; category: string };

export class BatchTail {
  readonly #after: StatementSync;
  readonly #lastFull: StatementSync;
  /** Batches up to this position are full or not worth merging; undefined until first needed. */
  #done: number | undefined;
  /** Events after `#done`, without those that other handles have appended. */
  #events = 0;

  constructor(db: DatabaseSync) {
    const sizes = "SELECT last_position, count, category FROM segments";
    // Batches of an archive file, also of one whose events are still being moved, stay as the file has them.
    const unarchived = "coalesce((SELECT max(last_position) FROM archives), 0)";
    this.#after = db.prepare(
      `${sizes} WHERE last_position > max(?, ${unarchived}) ORDER BY last_position LIMIT ${PAGE}`,
    );
    const newest = `${sizes} ORDER BY last_position DESC LIMIT ${LOOK_BACK}`;
    this.#lastFull = db.prepare(
      `SELECT coalesce(max(last_position) FILTER (WHERE count >= ${FULL}), min(last_position) - 1, 0) AS position
       FROM (${newest})`,
    );
  }

  /** To be called after a batch of `count` events was inserted. */
  grew(count: number): void {
    this.#events += count;
  }

  /** Ranges to be merged now: of one category each, without batches of others in between, and with enough events. */
  rangesToMerge(): BatchRange[] {
    if (this.#done === undefined) {
      this.#done = (this.#lastFull.get() as { position: number }).position;
      this.#events = this.#sizes().reduce((sum, { count }) => sum + count, 0);
    }
    if (this.#events < FULL) return [];
    const ranges: BatchRange[] = [];
    let range: Size[] = [];
    let events = 0;
    const end = () => {
      const [first, last] = [range[0], range.at(-1)];
      if (first && last && range.length >= WORTH_MERGING)
        ranges.push({ from: first.last_position, to: last.last_position });
      this.#done = last?.last_position ?? this.#done;
      range = [];
      events = 0;
    };
    for (const size of this.#sizes()) {
      if (range[0] && range[0].category !== size.category) end();
      range.push(size);
      events += size.count;
      if (events >= FULL) end();
    }
    this.#events = events;
    return ranges;
  }

  #sizes(): Size[] {
    return this.#after.all(this.#done ?? 0) as Size[];
  }
}
