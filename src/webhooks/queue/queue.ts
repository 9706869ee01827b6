// Where deliveries wait, are claimed by workers and keep their attempts; contract: test/contract/delivery-queue.ts.

/** `failed` is the dead letter: its last try is over. `cancelled`: its webhook was removed before. */
export const DELIVERY_STATES = ["pending", "delivered", "failed", "cancelled"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** All times are ISO 8601 UTC with milliseconds, so that they compare as text. */
export type NewDelivery = {
  webhookId: string;
  /** What the receiver sees as `webhook-id`, the same on each try. */
  eventId: string;
  /** Kind of webhook event, such as `link.clicked`. */
  event: string;
  /** JSON text; its UTF-8 bytes are what is sent on each try. */
  body: string;
};

/** One try. `status` is null when no answer came, `error` when it was delivered. `answer`: at most 2 KB of its body. */
export type Attempt = {
  at: string;
  durationMs: number;
  status: number | null;
  error: { code: string; message: string } | null;
  answer: string;
  /** Null when there is no next try. */
  nextTryAt: string | null;
};

export type Delivery = {
  /** `<webhookId>.<eventId>`: there is never a second one. */
  id: string;
  webhookId: string;
  eventId: string;
  event: string;
  state: DeliveryState;
  createdAt: string;
  /** When the next try is due, or a worker's claim ends; null when there is none. */
  dueAt: string | null;
  /** When it got its last state; null while pending. */
  finishedAt: string | null;
  /** Tries since it was queued or resent: its place in the schedule. */
  tries: number;
  /** Without the answer, which `get` gives. */
  lastAttempt: Omit<Attempt, "answer"> | null;
};

export type DeliveryWithLog = Delivery & { body: string; log: Attempt[] };

/** A delivery that is ours until `until`. `token` is the proof; `wasDueAt` tells how late we are. */
export type ClaimedDelivery = Pick<
  Delivery,
  "id" | "webhookId" | "eventId" | "event" | "createdAt" | "tries"
> & {
  body: string;
  wasDueAt: string;
  token: string;
};

/** `token`: unique to this call, so that a worker whose claim ended can't pass for the one that has it now. */
export type ClaimRequest = {
  webhookId: string;
  token: string;
  now: string;
  until: string;
  limit: number;
};

export type DeliveryOutcome = { state: "delivered" | "failed" } | { state: "pending"; dueAt: string };

/** Newest first; `after`: the id of the last one of the page before. */
export type DeliveryQuery = {
  webhookId: string;
  state?: DeliveryState | undefined;
  after?: { createdAt: string; id: string } | undefined;
  limit: number;
};

/** Failures of a webhook since its last success, by all workers. */
export type FailureStreak = { since: string; attempts: number };

export type QueueStats = { pending: number; due: number; oldestDueAt: string | null };

export interface DeliveryQueue {
  /** Adds those that are not there yet, due now, and answers how many that were. On the disk when it resolves. */
  enqueue(deliveries: readonly NewDelivery[], now: string): Promise<number>;
  /** Webhooks that have a delivery due and unclaimed, in no promised order. */
  dueWebhooks(now: string): Promise<string[]>;
  /** The longest due of one webhook, none of which another call gets before `until`. */
  claim(request: ClaimRequest): Promise<ClaimedDelivery[]>;
  /** Notes a try and what comes next. False, and nothing changes, when the claim has gone to another. */
  settle(
    claim: Pick<ClaimedDelivery, "id" | "token">,
    attempt: Attempt,
    outcome: DeliveryOutcome,
  ): Promise<boolean>;
  /** Gives a claim back unspent, due at `dueAt`. False when the claim has gone to another. */
  defer(claim: Pick<ClaimedDelivery, "id" | "token">, dueAt: string): Promise<boolean>;
  /** Due now, its schedule from the start, whatever its state; one that a worker has just now stays as it is. */
  resend(id: string, now: string): Promise<Delivery | undefined>;
  /** The same for all of a webhook that failed at or after `since`; answers how many. */
  recover(webhookId: string, since: string, now: string): Promise<number>;
  /** Ends all that are pending, claimed ones too; answers how many. */
  cancel(webhookId: string, now: string): Promise<number>;
  list(query: DeliveryQuery): Promise<Delivery[]>;
  get(id: string): Promise<DeliveryWithLog | undefined>;
  /** Forgets, with their attempts, what finished before then and what has been due in vain since; answers how many. */
  sweep(before: string): Promise<number>;
  /** One more failed attempt of this webhook; answers the streak it belongs to. */
  noteFailure(webhookId: string, at: string): Promise<FailureStreak>;
  /** Ends the streak: a success, or somebody resumed the webhook. */
  endStreak(webhookId: string): Promise<void>;
  /** `except`: webhooks that do not count, such as paused ones. */
  stats(now: string, except: readonly string[]): Promise<QueueStats>;
  close(): Promise<void>;
}

/** The one identity of a delivery, so that routing the same event again makes no second one. */
export function deliveryId(webhookId: string, eventId: string): string {
  return `${webhookId}.${eventId}`;
}
