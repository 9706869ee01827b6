// Retries work until it succeeds or is stopped, with exponential backoff and jitter.
import { pause, type Sleep } from "./pause.ts";

type BackoffLimits = { fromMs: number; toMs: number };

type KeepTryingDeps = BackoffLimits & {
  /** [0, 1), for jitter. */
  random: () => number;
  /** Not called for failures after the signal has aborted. */
  onFailure?: (error: unknown, retryInMs: number) => void;
  sleep?: Sleep;
};

/** `progress`: resets the backoff; to be called when a part of the work has succeeded. */
export type Work = (progress: () => void) => Promise<void>;

/** A failure after so long starts a new backoff, also without a call of `progress`. */
const HEALTHY_AFTER_MS = 60_000;

/** Returns when the work resolves or the signal aborts; never throws what the work throws. */
export async function keepTrying(deps: KeepTryingDeps, work: Work, signal: AbortSignal): Promise<void> {
  const { random, onFailure = () => undefined, sleep = pause } = deps;
  let failures = 0;
  const progress = () => {
    failures = 0;
  };
  while (!signal.aborted) {
    const startedAt = performance.now();
    try {
      return await work(progress);
    } catch (error) {
      if (signal.aborted) return;
      failures = performance.now() - startedAt > HEALTHY_AFTER_MS ? 1 : failures + 1;
      const retryInMs = backoffMs(failures, deps, random);
      onFailure(error, retryInMs);
      await sleep(retryInMs, signal);
    }
  }
}

/** Returns when the signal aborts. Work that resolves counts as failed, as a subscription that ends was dropped. */
export function keepRunning(deps: KeepTryingDeps, work: Work, signal: AbortSignal): Promise<void> {
  const endless: Work = async (progress) => {
    await work(progress);
    throw new Error("ended by itself");
  };
  return keepTrying(deps, endless, signal);
}

/**
 * Milliseconds before the next attempt after `failures` in a row (1 or more): `fromMs`, doubled each time up to `toMs`,
 * of which a random 50 to 100 %, so that clients that failed together don't retry together. `random`: [0, 1).
 */
export function backoffMs(failures: number, { fromMs, toMs }: BackoffLimits, random: () => number): number {
  return Math.min(toMs, fromMs * 2 ** (failures - 1)) * (0.5 + random() / 2);
}
