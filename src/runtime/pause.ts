// Waits for time or for an abort, and resolves instead of rejecting; with the clock that tests simulate.
import { setTimeout as delay } from "node:timers/promises";

/** Resolves after `ms` milliseconds, or as soon as the signal aborts; never throws. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, signal && { signal }).catch(() => undefined);
}

/** `now`: milliseconds that never go back. `sleep`: as `pause`. */
export type MonotonicClock = {
  now: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

export const systemClock: MonotonicClock = { now: () => performance.now(), sleep: pause };

/** Resolves when the signal aborts, immediately when it has already. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
