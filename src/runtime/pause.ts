// Waits for time or for an abort, and resolves instead of rejecting; with the clock that tests simulate.
import { setTimeout as delay } from "node:timers/promises";

/** Resolves after `ms` milliseconds, or as soon as the signal aborts; never throws. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, signal && { signal }).catch(() => undefined);
}

/** `pause`, or what tests have in its place. */
export type Sleep = typeof pause;

/** `now`: milliseconds that never go back. */
export type MonotonicClock = { now: () => number; sleep: Sleep };

/** What the work resolves to; undefined after `ms`, while the work goes on. @throws what the work rejects with before that */
export async function inTime<T>(ms: number, work: Promise<T>, sleep: Sleep = pause): Promise<T | undefined> {
  const settled = new AbortController();
  const late = sleep(ms, settled.signal).then(() => undefined);
  return await Promise.race([work, late]).finally(() => settled.abort());
}

export const systemClock: MonotonicClock = { now: () => performance.now(), sleep: pause };

/** Resolves when the signal aborts, immediately when it has already. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
