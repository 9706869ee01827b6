// The ordered queue of uncommitted hits: batches that wait in this thread, and batches sent to the recorder thread.
import { addHit, emptyBatch, type HitBatch, type RawHit, withdrawHit } from "./hit.ts";

/** Pipeline depth: one batch in its append and one ready to follow; more would only wait in the thread. */
const MOST_SENT = 2;
/** Larger batches need fewer fsyncs. An adapter with a smaller limit must split identically at each retry. */
const MAX_HITS = 2_000;

/** Identifies a queued hit, so that it can be withdrawn. */
export type HitPlace = { batch: number; index: number };

export class HitQueue {
  /** The last batch is the one being filled. */
  readonly #waiting: HitBatch[] = [];
  readonly #sent: HitBatch[] = [];
  #lastBatch = 0;
  #added = 0;
  #withdrawn = 0;
  #committed = 0;

  add(hit: RawHit): HitPlace {
    let batch = this.#waiting.at(-1);
    if (!batch || batch.count >= MAX_HITS) {
      batch = emptyBatch(++this.#lastBatch, this.#added);
      this.#waiting.push(batch);
    }
    this.#added++;
    return { batch: batch.batch, index: addHit(batch, hit) };
  }

  /** The next batch for the thread; undefined when none waits or the thread has its maximum. */
  next(): HitBatch | undefined {
    if (this.#sent.length >= MOST_SENT) return undefined;
    const batch = this.#waiting.shift();
    if (batch) this.#sent.push(batch);
    return batch;
  }

  /** Uncommitted batches that were sent: a new thread must get them again first. */
  sent(): readonly HitBatch[] {
    return this.#sent;
  }

  /** Removes the batches up to this number, which are committed. */
  commit(upTo: number): void {
    for (let [batch] = this.#sent; batch && batch.batch <= upTo; [batch] = this.#sent) {
      this.#committed += batch.count - batch.withdrawn;
      this.#sent.shift();
    }
  }

  /** False when the hit was already sent to a thread: then it is or will be in the log. */
  withdraw({ batch: number, index }: HitPlace): boolean {
    const batch = this.#waiting.find((one) => one.batch === number);
    if (!batch) return false;
    withdrawHit(batch, index);
    this.#withdrawn++;
    return true;
  }

  /** Hits so far, without those that were withdrawn. */
  get recorded(): number {
    return this.#added - this.#withdrawn;
  }

  /** Of these, those that are committed. */
  get committed(): number {
    return this.#committed;
  }

  /** Of these, those that are not. */
  get backlog(): number {
    return this.recorded - this.#committed;
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
