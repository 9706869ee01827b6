// Hits in the order in which they came, gathered to batches for the writer thread, until they are stored.
import type { Refused } from "../../commands/refusals.ts";
import { addHit, emptyBatch, type HitBatch, hitsOf, type RawHit, takeBack } from "./hit.ts";
import type { ClickGap } from "./lost-hits.ts";

/** A redirect that waits for its click, at most `until`. */
type Waiter = { index: number; until: number; resolve: () => void; reject: (error: Refused) => void };

/** `waiters`: in the order of their hits. `gone`: hits whose redirects were answered 503 while they were being stored. */
export type Batch = {
  hits: HitBatch;
  startedAt: number;
  answered: number;
  waiters: Waiter[];
  gone: number[];
};

/** Each flush costs an fsync, and larger batches compress better. */
export const FLUSH_AFTER_MS = 60;
const FLUSH_AT_HITS = 512;
/** Larger batches need fewer fsyncs. */
const MOST_A_BATCH = 2_000;

/** Times are monotonic milliseconds. */
export class HitBatches {
  /** Hits that are stored. */
  committed = 0;
  /** One at a time, as the writer thread does nothing else while it waits for the disk. */
  inFlight: Batch | undefined;
  /** The last one is being filled. */
  readonly #waiting: Batch[] = [];
  #added = 0;
  #takenBack = 0;

  add(hit: RawHit, now: number, mostOfHeader?: number): Batch {
    let batch = this.#waiting.at(-1);
    if (!batch || batch.hits.count >= MOST_A_BATCH) {
      batch = { hits: emptyBatch(this.#added), startedAt: now, answered: 0, waiters: [], gone: [] };
      this.#waiting.push(batch);
    }
    addHit(batch.hits, hit, mostOfHeader);
    this.#added++;
    return batch;
  }

  get oldest(): Batch | undefined {
    return this.inFlight ?? this.#waiting[0];
  }

  all(): Batch[] {
    return this.inFlight ? [this.inFlight, ...this.#waiting] : this.#waiting;
  }

  /** Without those that were taken back. */
  get recorded(): number {
    return this.#added - this.#takenBack;
  }

  /** Hits that are not stored. */
  get backlog(): number {
    return this.recorded - this.committed;
  }

  /** Puts the oldest in flight. */
  takeNext(): Batch | undefined {
    this.inFlight = this.#waiting.shift();
    return this.inFlight;
  }

  /** The one in flight is stored, or has nothing left to be stored. */
  settle(): void {
    this.inFlight = undefined;
  }

  /** Whether the first one is as large as one should be sent at once. */
  get isFull(): boolean {
    return (this.#waiting[0]?.hits.count ?? 0) >= FLUSH_AT_HITS;
  }

  /** Of the first that is not in flight: somebody waits for it, it is full, or its time has come. */
  isDue(now: number, isEnding: boolean): boolean {
    const [first] = this.#waiting;
    if (!first) return false;
    return isEnding || first.waiters.length > 0 || this.isFull || now - first.startedAt >= FLUSH_AFTER_MS;
  }

  /** Hits whose redirects were answered 503, of a batch that is not in the log. */
  takeBackGone(batch: Batch): void {
    for (const index of batch.gone) takeBack(batch.hits, index);
    this.#takenBack += batch.gone.length;
    batch.gone = [];
  }

  /** What is lost where none of them is ever stored; `answered`: of how many the redirects are answered. */
  gap(id: string, answered: number): ClickGap {
    const times = this.all().flatMap(({ hits }) => hitsOf(hits).map(({ hit }) => hit.at));
    const [from, until] = times.reduce(
      ([first, last], at) => [Math.min(first, at), Math.max(last, at)],
      [Number.POSITIVE_INFINITY, 0],
    );
    return { id, from, until, hits: answered };
  }
}

/** Takes those from the list who have waited until then. */
export function takeWaiting({ waiters }: Batch, until: number): Waiter[] {
  const firstLater = waiters.findIndex((waiter) => waiter.until > until);
  return waiters.splice(0, firstLater < 0 ? waiters.length : firstLater);
}
