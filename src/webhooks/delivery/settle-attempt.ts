// Settles an attempt: delivered, retried or failed for good; and pauses a webhook that has failed for too long.
import type { WebhookPauseCause } from "../../events/vocabulary.ts";
import type { Attempt, ClaimedDelivery, DeliveryOutcome, DeliveryQueue } from "../queue/queue.ts";
import type { Subscriber } from "../routing/subscribers.ts";
import { nextTryAt, pauseReason } from "./schedule.ts";
import type { AttemptResult } from "./send-delivery.ts";

/** Pauses a webhook as the actor `system`. */
export type PauseWebhook = (
  webhook: Subscriber,
  why: { reason: string; cause?: WebhookPauseCause },
) => Promise<void>;

export type SettleDeps = {
  queue: Pick<DeliveryQueue, "settle" | "noteFailure" | "endStreak">;
  pause: PauseWebhook;
  random: () => number;
  /** Delay before each attempt, in milliseconds (schedule.ts). */
  delaysMs: readonly number[];
};

/**
 * Stores the attempt and the next state, and applies the pause rule. False when the claim has expired and another
 * worker has the delivery: then only that worker's attempt counts.
 */
export async function settleAttempt(
  deps: SettleDeps,
  claim: ClaimedDelivery,
  webhook: Subscriber,
  result: AttemptResult,
): Promise<boolean> {
  const { at, durationMs, status, error, answer } = result;
  const outcome = outcomeOf(deps, claim, result);
  const nextTry = outcome.state === "pending" ? outcome.dueAt : null;
  const attempt: Attempt = { at, durationMs, status, error, answer, nextTryAt: nextTry };
  if (!(await deps.queue.settle(claim, attempt, outcome))) return false;
  if (error) await noteFailure(deps, webhook, result);
  return true;
}

function outcomeOf(deps: SettleDeps, { tries }: ClaimedDelivery, result: AttemptResult): DeliveryOutcome {
  if (!result.error) return { state: "delivered" };
  const failedAt = Date.parse(result.at) + result.durationMs;
  const failed = { tries: tries + 1, failedAt, retryAfterMs: result.retryAfterMs, random: deps.random() };
  const next = nextTryAt(failed, deps.delaysMs);
  return next === undefined ? { state: "failed" } : { state: "pending", dueAt: new Date(next).toISOString() };
}

async function noteFailure(
  { queue, pause }: SettleDeps,
  webhook: Subscriber,
  { at, status }: AttemptResult,
): Promise<void> {
  let streak = await queue.noteFailure(webhook.webhookId, at);
  // Failures from before the webhook was resumed do not count.
  if (streak.since < webhook.activeSince) {
    await queue.endStreak(webhook.webhookId);
    streak = await queue.noteFailure(webhook.webhookId, at);
  }
  const failing = { since: Date.parse(streak.since), attempts: streak.attempts };
  const reason = pauseReason(status, failing, Date.parse(at));
  if (reason !== undefined) await pause(webhook, { reason });
}
