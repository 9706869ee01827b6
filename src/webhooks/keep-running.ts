// Work that must go on through every failure of the stores: again, with backoff, until it is told to stop.
import { pause } from "../pause.ts";
import { backoffMs } from "../runtime/backoff.ts";

export type KeepRunningDeps = {
  /** What stops, for the log. */
  name: string;
  random: () => number;
  log: { warn(fields: object, message: string): void };
};

const RETRY = { fromMs: 250, toMs: 15_000 };
/** Work that went on for this long failed of something new. */
const HEALTHY_AFTER_MS = 60_000;

/** Also when the work ends by itself: a subscription that ends was dropped. Answers once the signal has aborted. */
export async function keepRunning(
  { name, random, log }: KeepRunningDeps,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const startedAt = performance.now();
    let failure: unknown;
    try {
      await work(signal);
    } catch (error) {
      failure = error;
    }
    if (signal.aborted) return;
    failures = performance.now() - startedAt > HEALTHY_AFTER_MS ? 1 : failures + 1;
    const retryInMs = backoffMs(failures, RETRY, random);
    if (failure) log.warn({ err: failure, retryInMs }, `${name} interrupted, retrying`);
    await pause(retryInMs, signal);
  }
}
