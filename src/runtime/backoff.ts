// Exponential backoff with jitter: the wait before a failed operation is retried.

export type BackoffLimits = { fromMs: number; toMs: number };

/**
 * Milliseconds before the next attempt after `failures` in a row (1 or more): `fromMs`, doubled each time up to `toMs`,
 * of which a random 50 to 100 %, so that clients that failed together don't retry together. `random`: [0, 1).
 */
export function backoffMs(failures: number, { fromMs, toMs }: BackoffLimits, random: () => number): number {
  return Math.min(toMs, fromMs * 2 ** (failures - 1)) * (0.5 + random() / 2);
}
