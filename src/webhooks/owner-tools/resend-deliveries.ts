// Lets an owner resend one delivery, or all that failed since a point in time.
import { Refused } from "../../runtime/refused.ts";
import type { Delivery } from "../queue/queue.ts";
import { type DeliveriesDeps, showDelivery } from "./deliveries.ts";
import { entitledWebhook } from "./entitled-webhook.ts";

export type ResendDeps = DeliveriesDeps & { clock: () => Date };

/**
 * Makes the delivery due now and restarts its schedule, also when it was delivered before; `webhook-id` and body stay
 * the same. A delivery in flight is not changed, and that of a paused webhook waits until the webhook is resumed.
 * @throws not_found, tier_required
 */
export async function resendDelivery(
  deps: ResendDeps,
  deliveryId: string,
  accountId?: string,
): Promise<Delivery> {
  const { webhookId } = await showDelivery(deps, deliveryId, accountId);
  await entitledWebhook(deps, webhookId, accountId);
  const delivery = await deps.deliveryQueue.resend(deliveryId, deps.clock().toISOString());
  if (!delivery) throw new Refused("not_found", "Delivery not found");
  return delivery;
}

/** Resends all deliveries that failed at or after `since`; returns how many. @throws not_found, tier_required */
export async function recoverSince(
  deps: ResendDeps,
  webhookId: string,
  since: Date,
  accountId?: string,
): Promise<number> {
  await entitledWebhook(deps, webhookId, accountId);
  return await deps.deliveryQueue.recover(webhookId, since.toISOString(), deps.clock().toISOString());
}
