// How long appends take, as plain counts that a metrics collector can turn into a histogram.

/** Upper bounds in seconds. */
export const LATENCY_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const;

/** `counts[i]`: observations at or under `bounds[i]` and over the bound before; the last entry: over all bounds. */
export type LatencySnapshot = {
  bounds: readonly number[];
  counts: number[];
  sum: number;
  count: number;
  items: number;
};

export class Latencies {
  readonly #counts = new Array<number>(LATENCY_BOUNDS.length + 1).fill(0);
  #sum = 0;
  #count = 0;
  #items = 0;

  /** `items`: what was done in that time, such as events appended. */
  add(seconds: number, items: number): void {
    const found = LATENCY_BOUNDS.findIndex((bound) => seconds <= bound);
    const bucket = found < 0 ? LATENCY_BOUNDS.length : found;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += seconds;
    this.#count++;
    this.#items += items;
  }

  snapshot(): LatencySnapshot {
    const [sum, count, items] = [this.#sum, this.#count, this.#items];
    return { bounds: LATENCY_BOUNDS, counts: [...this.#counts], sum, count, items };
  }
}
