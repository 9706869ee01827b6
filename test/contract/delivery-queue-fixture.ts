// Fixture of the delivery queue's contract: two handles on one queue, sample deliveries and attempts, a fixed clock.
import type { Attempt, ClaimedDelivery, DeliveryQueue, NewDelivery } from "../../src/webhooks/queue/queue.ts";

/** Two handles, as of two processes. */
export type DeliveryQueueFixture = {
  queue: DeliveryQueue;
  other: DeliveryQueue;
  close(): Promise<void>;
};

const START = Date.parse("2026-03-01T12:00:00.000Z");

export const at = (seconds: number) => new Date(START + seconds * 1000).toISOString();
export const NOW = at(0);
export const newWebhook = () => crypto.randomUUID();

/** Claims for a minute. */
export function claim(
  by: DeliveryQueue,
  webhookId: string,
  now = NOW,
  limit = 10,
): Promise<ClaimedDelivery[]> {
  const until = new Date(Date.parse(now) + 60_000).toISOString();
  return by.claim({ webhookId, token: crypto.randomUUID(), now, until, limit });
}

export async function claimOne(by: DeliveryQueue, webhookId: string, now = NOW): Promise<ClaimedDelivery> {
  const [claimed] = await claim(by, webhookId, now, 1);
  if (!claimed) throw new Error("nothing to claim");
  return claimed;
}

export async function enqueue(queue: DeliveryQueue, webhookId: string, ...eventIds: string[]): Promise<void> {
  await queue.enqueue(
    eventIds.map((eventId) => delivery(webhookId, eventId)),
    NOW,
  );
}

export function delivery(webhookId: string, eventId: string): NewDelivery {
  return { webhookId, eventId, event: "link.clicked", body: `{"event":"link.clicked","id":"${eventId}"}` };
}

export function answered(status: number): Attempt {
  return { at: NOW, durationMs: 12, status, error: null, answer: '{"ok":true}', nextTryAt: null };
}

export const failedToConnect: Omit<Attempt, "at" | "nextTryAt"> = {
  durationMs: 3,
  status: null,
  error: { code: "connect_failed", message: "Nothing listens there" },
  answer: "",
};
