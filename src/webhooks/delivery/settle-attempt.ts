// Settles an attempt: delivered, due again by the schedule, or failed for good.
import type { Attempt, ClaimedDelivery, DeliveryOutcome, DeliveryQueue } from "../queue/queue.ts";
import { nextTryAt } from "./schedule.ts";
import type { AttemptResult } from "./send-delivery.ts";

export type SettleDeps = {
  queue: Pick<DeliveryQueue, "settle">;
  random: () => number;
  /** Delay before each attempt, in milliseconds (schedule.ts). */
  delaysMs: readonly number[];
};

/**
 * Stores the attempt and the next state. False when the claim has expired and another worker has the delivery: then only
 * that worker's attempt counts.
 */
export async function settleAttempt(
  deps: SettleDeps,
  claim: ClaimedDelivery,
  result: AttemptResult,
): Promise<boolean> {
  const { at, durationMs, status, error, answer } = result;
  const outcome = outcomeOf(deps, claim, result);
  const nextTry = outcome.state === "pending" ? outcome.dueAt : null;
  const attempt: Attempt = { at, durationMs, status, error, answer, nextTryAt: nextTry };
  return await deps.queue.settle(claim, attempt, outcome);
}

function outcomeOf(deps: SettleDeps, { tries }: ClaimedDelivery, result: AttemptResult): DeliveryOutcome {
  if (!result.error) return { state: "delivered" };
  const failedAt = Date.parse(result.at) + result.durationMs;
  const failed = { tries: tries + 1, failedAt, retryAfterMs: result.retryAfterMs, random: deps.random() };
  const next = nextTryAt(failed, deps.delaysMs);
  return next === undefined ? { state: "failed" } : { state: "pending", dueAt: new Date(next).toISOString() };
}
