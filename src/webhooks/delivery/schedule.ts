// The retry schedule of deliveries, and the rule that pauses a failing webhook. Pure.
import type { DeliveryOutcome, FailureStreak } from "../queue/queue.ts";
import type { AttemptResult } from "./send-delivery.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Delay before each attempt, from the first to the last. */
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

/** For pages and documents. */
export const TRIES_IN_WORDS = `up to ${TRY_DELAYS_MS.length} times within ${Math.round(TRY_DELAYS_MS.reduce((sum, delay) => sum + delay) / HOUR_MS)} hours`;

/** Each delay varies by ±20 %, so that deliveries that failed together are not retried together. */
const JITTER = 0.2;
/** Upper limit of a receiver's Retry-After: the longest delay of the schedule. */
const LONGEST_RETRY_AFTER_MS = 10 * HOUR_MS;

const PAUSED_AFTER_MS = 5 * DAY_MS;
const PAUSED_AFTER_ATTEMPTS = 20;
const GONE = 410;

/** `random`: [0, 1). */
export type Schedule = { delaysMs: readonly number[]; random: number };

/** What an attempt comes to, after `tries` before it: delivered, due again, or failed for good after the last try. */
export function outcomeOf(
  { at, durationMs, error, retryAfterMs }: AttemptResult,
  tries: number,
  { delaysMs, random }: Schedule,
): DeliveryOutcome {
  if (!error) return { state: "delivered" };
  const delay = delaysMs[tries + 1];
  if (delay === undefined) return { state: "failed" };
  const jittered = delay * (1 - JITTER + 2 * JITTER * random);
  const retryAfter = Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
  const next = Date.parse(at) + durationMs + Math.round(Math.max(jittered, retryAfter));
  return { state: "pending", dueAt: new Date(next).toISOString() };
}

/** Why to pause the webhook after a failure at `at`, the last of the streak; undefined when it stays active. */
export function pauseReason(status: number | null, streak: FailureStreak, at: string): string | undefined {
  if (status === GONE) return "The endpoint answered 410 Gone";
  const lastedMs = Date.parse(at) - Date.parse(streak.since);
  if (streak.attempts < PAUSED_AFTER_ATTEMPTS || lastedMs < PAUSED_AFTER_MS) return undefined;
  return `No successful delivery in five days and ${streak.attempts} attempts`;
}
