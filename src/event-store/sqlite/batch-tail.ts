// Which of the newest segments are so small that they are to be merged: those of single clicks cost a kilobyte each.
import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Segments from one `last_position` to another, both included. */
export type BatchRange = { from: number; to: number };

/** A segment of that many events is kept as it is, and smaller ones are merged into one of about so many. */
const FULL = 512;
/** Fewer segments than that hold enough events each. */
const WORTH_MERGING = 8;
/** Where no segment is full, none further back is looked at when the log is opened. */
const LOOK_BACK = 4_096;
const PAGE = 1_024;

type Size = { last_position: number; count: number; category: string };

export class BatchTail {
  readonly #behind: StatementSync;
  readonly #lastFull: StatementSync;
  /** Up to here segments are full, or not worth merging; undefined until it is needed. */
  #done: number | undefined;
  /** Events behind `#done`, as far as this handle knows. */
  #events = 0;

  constructor(db: DatabaseSync) {
    const sizes = "SELECT last_position, count, category FROM segments";
    this.#behind = db.prepare(`${sizes} WHERE last_position > ? ORDER BY last_position LIMIT ${PAGE}`);
    const newest = `${sizes} ORDER BY last_position DESC LIMIT ${LOOK_BACK}`;
    this.#lastFull = db.prepare(
      `SELECT coalesce(max(last_position) FILTER (WHERE count >= ${FULL}), min(last_position) - 1, 0) AS position
       FROM (${newest})`,
    );
  }

  /** A segment of so many events was inserted. */
  grew(count: number): void {
    this.#events += count;
  }

  /** Each is to be merged now: together they hold enough events, and no other category's segment is among them. */
  runsToMerge(): BatchRange[] {
    if (this.#done === undefined) {
      this.#done = (this.#lastFull.get() as { position: number }).position;
      this.#events = this.#sizes().reduce((sum, { count }) => sum + count, 0);
    }
    if (this.#events < FULL) return [];
    const runs: BatchRange[] = [];
    let run: Size[] = [];
    let events = 0;
    const end = () => {
      const [first, last] = [run[0], run.at(-1)];
      if (first && last && run.length >= WORTH_MERGING)
        runs.push({ from: first.last_position, to: last.last_position });
      this.#done = last?.last_position ?? this.#done;
      run = [];
      events = 0;
    };
    for (const size of this.#sizes()) {
      if (run[0] && run[0].category !== size.category) end();
      run.push(size);
      events += size.count;
      if (events >= FULL) end();
    }
    this.#events = events;
    return runs;
  }

  #sizes(): Size[] {
    return this.#behind.all(this.#done ?? 0) as Size[];
  }
}
