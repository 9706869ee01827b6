// Reads the delivery log of a webhook for the portal and the command line; it covers 30 days.
import { behindCursor, pageOf } from "../../queries/cursor.ts";
import { showWebhook } from "../../queries/webhooks.ts";
import type { ReadStore } from "../../read-store/port.ts";
import { Refused } from "../../runtime/refused.ts";
import type { DeliveryQueue, DeliveryState, DeliveryWithBody, DeliveryWithLog } from "../queue/queue.ts";

export type DeliveriesDeps = { readStore: ReadStore; deliveryQueue: DeliveryQueue };

export type DeliveryFilter = {
  state?: DeliveryState | undefined;
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
  const { state, limit } = filter;
  const { after: end } = behindCursor(filter.cursor);
  const after = end && { createdAt: String(end.value), id: end.id };
  const found = await deps.deliveryQueue.list({ webhookId, state, after, limit: limit + 1 });
  const { page, next } = pageOf(found, limit, ({ createdAt, id }) => ({ value: createdAt, id }));
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
