// When a delivery is tried again, and when a webhook has failed for so long that it is paused (DESIGN §7). Pure.

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Before the first try, the second, and so on; after the last there is none. */
export const TRY_DELAYS_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  10 * HOUR_MS,
];

/** Each delay is spread by this much to both sides, so that what failed together does not come back together. */
const JITTER = 0.2;
/** A receiver may ask for longer than the schedule, but not for longer than its longest step. */
const LONGEST_RETRY_AFTER_MS = 10 * HOUR_MS;

const PAUSED_AFTER_MS = 5 * DAY_MS;
const PAUSED_AFTER_ATTEMPTS = 20;
const GONE = 410;

/** `tries`: all so far, the one that failed at `failedAt` (milliseconds) included. `random`: [0, 1). */
export type FailedTry = { tries: number; failedAt: number; retryAfterMs: number | null; random: number };

/** When to try again, in milliseconds; undefined when that was the last try. */
export function nextTryAt(failed: FailedTry, delays = TRY_DELAYS_MS): number | undefined {
  const step = delays[failed.tries];
  if (step === undefined) return undefined;
  const jittered = step * (1 - JITTER + 2 * JITTER * failed.random);
  const asked = Math.min(failed.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
  return failed.failedAt + Math.round(Math.max(jittered, asked));
}

/** Failures of a webhook since its last success. Times in milliseconds. */
export type Streak = { since: number; attempts: number };

/** Why the webhook is to be paused after a failure at `at`; undefined while it is not. */
export function pauseReason(status: number | null, streak: Streak, at: number): string | undefined {
  if (status === GONE) return "The endpoint answered 410 Gone";
  if (streak.attempts < PAUSED_AFTER_ATTEMPTS || at - streak.since < PAUSED_AFTER_MS) return undefined;
  return `No successful delivery in five days and ${streak.attempts} attempts`;
}
