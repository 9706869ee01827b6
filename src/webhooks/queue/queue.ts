// Port of the delivery queue: pending deliveries, claims, the attempt log, and up to where the log was routed into it;
// contract: test/contract/delivery-queue.ts.

import type { SetAside } from "../../stores/coordination/set-aside.ts";
import type { Position } from "../../stores/event-store/port.ts";

/** `failed`: the last attempt failed (dead letter). `cancelled`: the webhook was removed while it was pending. */
export const DELIVERY_STATES = ["pending", "delivered", "failed", "cancelled"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** All times are ISO 8601 UTC with milliseconds, so that they compare as text. */
export type NewDelivery = {
  webhookId: string;
  /** Sent as `webhook-id`, the same in each attempt. */
  eventId: string;
  /** Kind of webhook event, such as `link.clicked`. */
  event: string;
  /** JSON text; each attempt sends its UTF-8 bytes. */
  body: string;
};

/** `status` is null without an answer, `error` after success. `answer`: at most 2 KB of the answer's body. */
export type Attempt = {
  at: string;
  durationMs: number;
  status: number | null;
  error: { code: string; message: string } | null;
  answer: string;
  /** Null when there is no next attempt. */
  nextTryAt: string | null;
};

export type Delivery = {
  /** `<webhookId>.<eventId>`, so that there is one delivery per webhook and event. */
  id: string;
  webhookId: string;
  eventId: string;
  event: string;
  state: DeliveryState;
  createdAt: string;
  /** When the next attempt is due or a worker's claim ends; null when it is finished. */
  dueAt: string | null;
  /** When it reached its final state; null while pending. */
  finishedAt: string | null;
  /** Attempts since it was queued or resent: its position in the retry schedule. */
  tries: number;
  /** Without the answer, which only `get` returns. */
  lastAttempt: Omit<Attempt, "answer"> | null;
};

export type DeliveryWithBody = Delivery & { body: string };

export type DeliveryWithLog = DeliveryWithBody & { log: Attempt[] };

/** A delivery claimed until `ClaimRequest.until`. `token` proves the claim; `wasDueAt`: when it was due before. */
export type ClaimedDelivery = Pick<Delivery, "id" | "webhookId" | "eventId" | "event" | "tries"> & {
  body: string;
  wasDueAt: string;
  token: string;
};

/** What proves the claim of a delivery. */
export type DeliveryClaim = Pick<ClaimedDelivery, "id" | "token">;

/** `token`: unique per call, so that a worker with an expired claim cannot settle the delivery. */
export type ClaimRequest = {
  webhookId: string;
  token: string;
  now: string;
  until: string;
  limit: number;
};

export type DeliveryOutcome = { state: "delivered" | "failed" } | { state: "pending"; dueAt: string };

/** Newest first; `after`: the last delivery of the previous page. */
export type DeliveryQuery = {
  webhookId: string;
  state?: DeliveryState | undefined;
  /** Kind of webhook event. */
  event?: string | undefined;
  after?: { createdAt: string; id: string } | undefined;
  limit: number;
};

/** Failed attempts of a webhook since its last success, over all workers. */
export type FailureStreak = { since: string; lastAt: string; attempts: number };

export type QueueStats = { pending: number; due: number; oldestDueAt: string | null };

/** The last event that was routed. */
type RoutedEvent = { position: Position; eventId: string };

/**
 * Up to where the log was routed. `setAside`: the events that were passed without a delivery. `days`: the same place as it was
 * first noted on each of the last days, for a log that was put back from an older copy. `logId`: of the log, where it has
 * begun.
 */
export type RoutedPlace = RoutedEvent & {
  logId?: string;
  setAside: SetAside;
  days: readonly (RoutedEvent & { day: string })[];
};

export interface DeliveryQueue {
  /** Undefined before the first `noteRouted`. */
  routed(): Promise<RoutedPlace | undefined>;
  /**
   * Called after `enqueue`: deliveries may be newer than the place, as each is added once, and never older. That holds for a
   * copy of the queue, too, in whichever order its parts are copied.
   */
  noteRouted(place: RoutedPlace): Promise<void>;
  /** Adds deliveries that do not exist yet, due now; returns how many were added. Durable when it resolves. */
  enqueue(deliveries: readonly NewDelivery[], now: string): Promise<number>;
  /** Webhooks with a due, unclaimed delivery, in any order; `except`: those to leave out, such as paused ones. */
  dueWebhooks(now: string, except: readonly string[]): Promise<string[]>;
  /** Claims the deliveries of one webhook that have been due longest; no other call gets them before `until`. */
  claim(request: ClaimRequest): Promise<ClaimedDelivery[]>;
  /** Stores an attempt and its outcome. False, without any change, when another worker has claimed it since. */
  settle(claim: DeliveryClaim, attempt: Attempt, outcome: DeliveryOutcome): Promise<boolean>;
  /** Returns a claim without an attempt, due at `dueAt`. False when another worker has claimed it since. */
  defer(claim: DeliveryClaim, dueAt: string): Promise<boolean>;
  /** Makes a delivery in any state due now and restarts its schedule; one with a current claim is not changed. */
  resend(id: string, now: string): Promise<Delivery | undefined>;
  /** Resends all deliveries of a webhook that failed at or after `since`; returns how many. */
  recover(webhookId: string, since: string, now: string): Promise<number>;
  /** Cancels all pending deliveries, including claimed ones; returns how many. */
  cancel(webhookId: string, now: string): Promise<number>;
  list(query: DeliveryQuery): Promise<DeliveryWithBody[]>;
  get(id: string): Promise<DeliveryWithLog | undefined>;
  /** Deletes deliveries, with their attempts, that finished or became due before `before`; returns how many. */
  sweep(before: string): Promise<number>;
  /** Counts a failed attempt of the webhook; returns its streak, which begins anew when it began before `notBefore`. */
  noteFailure(webhookId: string, at: string, notBefore: string): Promise<FailureStreak>;
  /** Of the webhooks, by default of all, that have failed so many times in a row, or more. */
  streaks(
    attempts: number,
    webhookIds?: readonly string[],
  ): Promise<(FailureStreak & { webhookId: string })[]>;
  /** Ends the streak after a success. */
  endStreak(webhookId: string): Promise<void>;
  /** `except`: webhooks to leave out of `due` and `oldestDueAt`, such as paused ones. */
  stats(now: string, except: readonly string[]): Promise<QueueStats>;
  close(): Promise<void>;
}

/** What the router has passed without a delivery. */
export function setAsideIn(place: Pick<RoutedPlace, "setAside"> | undefined): SetAside {
  return place?.setAside ?? { count: 0, events: [] };
}

/** Of a settled delivery: when its next attempt is due, or when its last one ended. */
export function afterAttempt(
  { at, durationMs }: Attempt,
  outcome: DeliveryOutcome,
): Pick<Delivery, "state" | "dueAt" | "finishedAt"> {
  if (outcome.state === "pending") return { ...outcome, finishedAt: null };
  const finishedAt = new Date(Date.parse(at) + durationMs).toISOString();
  return { state: outcome.state, dueAt: null, finishedAt };
}

/** Deterministic, so that routing the same event again creates no second delivery. */
export function deliveryId(webhookId: string, eventId: string): string {
  return `${webhookId}.${eventId}`;
}

const DAY_MS = 86_400_000;

/** Retention of a delivery with its attempts after it has finished. */
const KEPT_MS = 30 * DAY_MS;

/** Allowed clock skew between the event store and this process. */
const CLOCK_MARGIN_MS = 3_600_000;

/** Events recorded earlier create no delivery: theirs may already be deleted, so a duplicate would not be noticed. */
export function oldestRouted(now: Date): string {
  return new Date(now.getTime() - KEPT_MS).toISOString();
}

/** Deliveries that finished earlier are deleted; later than `oldestRouted`, so that every routable event is known. */
export function oldestKept(now: Date): string {
  return new Date(now.getTime() - KEPT_MS - CLOCK_MARGIN_MS).toISOString();
}
