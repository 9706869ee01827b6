// The delivery log of a webhook, which covers 30 days, and sending again what it has, for the portal and the command line.

import { Refused } from "../../commands/refusals.ts";
import type { WebhookEventName } from "../../events/webhook-selection.ts";
import { behindCursor, pageOf } from "../../queries/cursor.ts";
import { entitledWebhook, showWebhook } from "../../queries/webhooks.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import type {
  Delivery,
  DeliveryQueue,
  DeliveryState,
  DeliveryWithBody,
  DeliveryWithLog,
} from "../queue/queue.ts";

export type DeliveriesDeps = { readStore: ReadStore; deliveryQueue: DeliveryQueue };
export type ResendDeps = DeliveriesDeps & { clock: () => Date };

export type DeliveryFilter = {
  state?: DeliveryState | undefined;
  event?: WebhookEventName | undefined;
  limit: number;
  cursor?: string | undefined;
};

/** `next_cursor` is null on the last page. */
export type DeliveryPage = { deliveries: DeliveryWithBody[]; next_cursor: string | null };

/** Newest first. `accountId`: the required owner, if given. @throws not_found, invalid_cursor */
export async function listDeliveries(
  deps: DeliveriesDeps,
  webhookId: string,
  filter: DeliveryFilter,
  accountId?: string,
): Promise<DeliveryPage> {
  await showWebhook(deps, webhookId, accountId);
  const { state, event, limit } = filter;
  const { after: end } = behindCursor(filter.cursor);
  const after = end && { createdAt: String(end.value), id: end.id };
  const deliveries = await deps.deliveryQueue.list({ webhookId, state, event, after, limit: limit + 1 });
  const { page, next } = pageOf(deliveries, { limit }, ({ createdAt, id }) => ({ value: createdAt, id }));
  return { deliveries: page, next_cursor: next };
}

/** One delivery with its body and all its attempts. @throws not_found */
export async function showDelivery(
  deps: DeliveriesDeps,
  deliveryId: string,
  accountId?: string,
): Promise<DeliveryWithLog> {
  const delivery = await deps.deliveryQueue.get(deliveryId);
  if (!delivery) throw new Refused("not_found", "Delivery not found");
  await showWebhook(deps, delivery.webhookId, accountId);
  return delivery;
}

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
