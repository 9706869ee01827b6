// Work that must go on through every failure of what it needs: tried again, with backoff, until it is stopped.

import { type BackoffLimits, backoffMs } from "./backoff.ts";
import { pause } from "./pause.ts";

export type KeepTryingDeps = BackoffLimits & {
  /** [0, 1), for jitter. */
  random: () => number;
  /** Not called for what fails after the signal's abort. */
  onFailure?: (error: unknown, retryInMs: number) => void;
  /** Ends early, and quietly, when the signal aborts. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** `progress`: to be called when something has succeeded, so that the next failure is a first one. */
type Work = (progress: () => void) => Promise<void>;

/** Work that went on for this long has failed of something new. */
const HEALTHY_AFTER_MS = 60_000;

/** Until the work resolves or the signal aborts; never throws what the work throws. */
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

/** Until the signal aborts. Work that ends by itself has failed, too: a subscription that ends was dropped. */
export function keepRunning(deps: KeepTryingDeps, work: Work, signal: AbortSignal): Promise<void> {
  const endless: Work = async (progress) => {
    await work(progress);
    throw new Error("ended by itself");
  };
  return keepTrying(deps, endless, signal);
}
