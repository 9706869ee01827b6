// Queues past clicks for a webhook on its owner's request, as far as it has no delivery for them yet.
import type { EventStore } from "../../event-store/port.ts";
import type { ReadStore } from "../../read-store/port.ts";
import type { DeliveryQueue } from "../queue/queue.ts";
import { type Replayed, replayClicks } from "../routing/replay.ts";
import { entitledWebhook } from "./entitled-webhook.ts";

export type ReplayWebhookDeps = {
  eventStore: EventStore;
  readStore: ReadStore;
  deliveryQueue: DeliveryQueue;
  clock: () => Date;
};

/** Reads all clicks of the service since `since`, which may take minutes. @throws NotFound, TierRequired */
export async function replayFrom(
  deps: ReplayWebhookDeps,
  webhookId: string,
  since: Date,
  accountId?: string,
): Promise<Replayed> {
  const { accountId: owner, kinds } = await entitledWebhook(deps, webhookId, accountId);
  const request = { accountId: owner, webhookId, kinds, since: since.toISOString() };
  return await replayClicks({ ...deps, queue: deps.deliveryQueue }, request);
}
