// Hits on their way to the recorder thread, in order: batches that wait here, and batches the thread has.
import { addHit, emptyBatch, type HitBatch, type RawHit, withdrawHit } from "./hit.ts";

/** With the thread at once: one batch in its append, one ready to follow. More would only wait there. */
const MOST_SENT = 2;
/** Larger batches cost fewer fsyncs; an adapter with a smaller limit cuts them, the same way at every try. */
const MAX_HITS = 2_000;

/** Which hit: what it takes to withdraw it. */
export type HitPlace = { batch: number; index: number };

export class HitQueue {
  /** The last one is being filled. */
  readonly #waiting: HitBatch[] = [];
  readonly #sent: HitBatch[] = [];
  #lastBatch = 0;
  #hits = 0;

  add(hit: RawHit): HitPlace {
    let batch = this.#waiting.at(-1);
    if (!batch || batch.count >= MAX_HITS) {
      batch = emptyBatch(++this.#lastBatch, this.#hits);
      this.#waiting.push(batch);
    }
    this.#hits++;
    return { batch: batch.batch, index: addHit(batch, hit) };
  }

  /** The next batch for the thread; undefined when none waits, or the thread has enough. */
  next(): HitBatch | undefined {
    if (this.#sent.length >= MOST_SENT) return undefined;
    const batch = this.#waiting.shift();
    if (batch) this.#sent.push(batch);
    return batch;
  }

  /** What a new thread has to get again, first. */
  sent(): readonly HitBatch[] {
    return this.#sent;
  }

  /** All batches up to this one are committed; answers how many hits that were. */
  commit(upTo: number): number {
    let hits = 0;
    for (let [batch] = this.#sent; batch && batch.batch <= upTo; [batch] = this.#sent) {
      hits += batch.count - batch.withdrawn;
      this.#sent.shift();
    }
    return hits;
  }

  /** False when the thread has, or ever had, the hit: then it is or will be in the log. */
  withdraw({ batch: number, index }: HitPlace): boolean {
    const batch = this.#waiting.find((one) => one.batch === number);
    if (!batch) return false;
    withdrawHit(batch, index);
    return true;
  }

  /** Hits of the batch that is being filled. */
  get filling(): number {
    return this.#waiting.at(-1)?.count ?? 0;
  }

  /** Number of the oldest batch that is not committed. */
  get oldest(): number | undefined {
    return (this.#sent[0] ?? this.#waiting[0])?.batch;
  }

  /** When the oldest uncommitted batch got its first hit; `now` when there is none. */
  oldestAt(now: number): number {
    return (this.#sent[0] ?? this.#waiting[0])?.startedAt ?? now;
  }

  /** Number of the newest batch, 0 before the first one. */
  get newest(): number {
    return this.#lastBatch;
  }
}
