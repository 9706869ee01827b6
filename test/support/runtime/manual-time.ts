// A simulated clock that advances to the next timer, so that tests of pauses don't wait.
import { setImmediate as turn } from "node:timers/promises";

export type ManualTime = {
  /** Milliseconds since the start. */
  now(): number;
  /** Resolves early when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Advances from timer to timer until the condition holds. @throws after `withinMs` of simulated time */
  until(holds: () => boolean, withinMs?: number): Promise<void>;
  /** Advances by that much time. */
  pass(ms: number): Promise<void>;
};

export function manualTime(): ManualTime {
  let now = 0;
  const sleepers = new Set<{ at: number; wake: () => void }>();

  /** Advances to the next timer, or to `latest` if that is earlier. */
  const step = async (latest: number) => {
    await turn();
    const next = [...sleepers].sort((a, b) => a.at - b.at)[0];
    if (!next || next.at > latest) {
      now = latest;
      return;
    }
    now = Math.max(now, next.at);
    next.wake();
    await turn();
  };
  const until: ManualTime["until"] = async (holds, withinMs = 3_600_000) => {
    const latest = now + withinMs;
    await turn();
    while (!holds()) {
      if (now >= latest) throw new Error(`not within ${withinMs} ms: ${holds}`);
      await step(latest);
    }
  };
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const wake = () => {
          sleepers.delete(sleeper);
          resolve();
        };
        const sleeper = { at: now + ms, wake };
        if (signal?.aborted) return resolve();
        sleepers.add(sleeper);
        signal?.addEventListener("abort", wake, { once: true });
        return undefined;
      }),
    until,
    async pass(ms) {
      const end = now + ms;
      while (now < end) await step(end);
      await turn();
    },
  };
}
