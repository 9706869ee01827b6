// What a worker counts for the metrics, as plain numbers that cross threads.

/** Upper bounds in seconds of how late deliveries are claimed. */
export const LAG_BOUNDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800] as const;

/** `lag.counts`: claims at most that late, each bound for itself, the last beyond all of them. */
export type Counted = {
  /** By `delivered`, or by what went wrong. */
  attempts: Record<string, number>;
  lag: { counts: number[]; sum: number; count: number };
};

export class WorkerCounts {
  readonly #attempts = new Map<string, number>();
  readonly #lag = { counts: new Array<number>(LAG_BOUNDS.length + 1).fill(0), sum: 0, count: 0 };

  attempted(outcome: string): void {
    this.#attempts.set(outcome, (this.#attempts.get(outcome) ?? 0) + 1);
  }

  /** `lateMs`: after it was due. */
  claimed(lateMs: number): void {
    const late = Math.max(0, lateMs) / 1000;
    const bound = LAG_BOUNDS.findIndex((atMost) => late <= atMost);
    const slot = bound === -1 ? LAG_BOUNDS.length : bound;
    this.#lag.counts[slot] = (this.#lag.counts[slot] ?? 0) + 1;
    this.#lag.sum += late;
    this.#lag.count += 1;
  }

  read(): Counted {
    const { counts, sum, count } = this.#lag;
    return { attempts: Object.fromEntries(this.#attempts), lag: { counts: [...counts], sum, count } };
  }
}
