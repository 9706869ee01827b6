// The batches of clicks that are with the recorder thread: what a new thread gets again.
import type { HitBatch } from "./hit.ts";

export class SentBatches {
  /** Sent and not yet committed, in order. */
  readonly #sent = new Map<number, HitBatch>();
  #oldestStartedAt = 0;

  add(batch: HitBatch): void {
    if (this.#sent.size === 0) this.#oldestStartedAt = batch.startedAt;
    this.#sent.set(batch.batch, batch);
  }

  /** All up to this one are committed; answers how many clicks they held. */
  commit(upTo: number): number {
    let clicks = 0;
    for (const [number, batch] of this.#sent) {
      if (number > upTo) break;
      this.#sent.delete(number);
      clicks += batch.count;
    }
    const [oldest] = this.#sent.values();
    if (oldest) this.#oldestStartedAt = oldest.startedAt;
    return clicks;
  }

  get isEmpty(): boolean {
    return this.#sent.size === 0;
  }

  get oldest(): number | undefined {
    return this.#sent.keys().next().value;
  }

  /** When the oldest uncommitted batch got its first click; `now` when there is none. */
  oldestAt(now: number): number {
    return this.#sent.size === 0 ? now : this.#oldestStartedAt;
  }

  all(): Iterable<HitBatch> {
    return this.#sent.values();
  }
}
