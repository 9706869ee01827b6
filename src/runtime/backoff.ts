// How long to wait before something that failed is tried again.

export type BackoffLimits = { fromMs: number; toMs: number };

/**
 * Milliseconds before the next try after `failures` in a row, at least one: `fromMs`, doubled each time up to `toMs`,
 * less up to half of it at random, so that many who failed together don't come back together. `random`: [0, 1).
 */
export function backoffMs(failures: number, { fromMs, toMs }: BackoffLimits, random: () => number): number {
  return Math.min(toMs, fromMs * 2 ** (failures - 1)) * (0.5 + random() / 2);
}
