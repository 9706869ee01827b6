// What an owner does about deliveries that did not arrive: resend one, or recover all that failed since a time.

import { NotFound } from "../../queries/errors.ts";
import type { Delivery } from "../queue/queue.ts";
import { type DeliveriesDeps, showDelivery } from "./deliveries.ts";
import { entitledWebhook } from "./entitled-webhook.ts";

export type ResendDeps = DeliveriesDeps & { clock: () => Date };

/**
 * Due at once with its schedule from the start, also when it was delivered before; the receiver sees the same
 * `webhook-id` and body. One that a worker has just now stays as it is, as do those of a paused webhook until it is
 * resumed.
 * @throws NotFound, TierRequired
 */
export async function resendDelivery(
  deps: ResendDeps,
  deliveryId: string,
  accountId?: string,
): Promise<Delivery> {
  const { webhookId } = await showDelivery(deps, deliveryId, accountId);
  await entitledWebhook(deps, webhookId, accountId);
  const delivery = await deps.deliveryQueue.resend(deliveryId, deps.clock().toISOString());
  if (!delivery) throw new NotFound("Delivery not found");
  return delivery;
}

/** Resends all that failed at or after `since`; answers how many. @throws NotFound, TierRequired */
export async function recoverSince(
  deps: ResendDeps,
  webhookId: string,
  since: Date,
  accountId?: string,
): Promise<number> {
  await entitledWebhook(deps, webhookId, accountId);
  return await deps.deliveryQueue.recover(webhookId, since.toISOString(), deps.clock().toISOString());
}
