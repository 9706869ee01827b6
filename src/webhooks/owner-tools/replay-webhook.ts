// Queues deliveries for past clicks on the owner's request: from before a webhook was added, or from while it was paused.

import { readableEvent } from "../../events/read-event.ts";
import { CATEGORY, isImportedClick } from "../../events/streams.ts";
import type { WebhookDocument } from "../../projections/definitions/webhooks.ts";
import { positionBefore } from "../../queries/analytics/log-positions.ts";
import { entitledWebhook } from "../../queries/webhooks.ts";
import { logPages } from "../../stores/event-store/log-pages.ts";
import type { EventStore, RecordedEvent } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import type { DeliveryQueue, NewDelivery } from "../queue/queue.ts";
import { oldestRouted } from "../queue/retention.ts";
import { clickDelivery } from "../routing/click-payload.ts";
import { isRouted } from "../routing/subscribers.ts";

export type ReplayDeps = {
  eventStore: Pick<EventStore, "readAll" | "head">;
  readStore: ReadStore;
  deliveryQueue: Pick<DeliveryQueue, "enqueue">;
  clock: () => Date;
  /** Of the default domain, without a trailing slash. */
  baseUrl: string;
};

/** `found`: clicks that match the webhook; `queued`: those that had no delivery yet. */
export type Replayed = { since: string; found: number; queued: number };

const BATCH = 2_000;

/**
 * Reads all clicks of the service that were recorded since `from`, 30 days ago at most, up to the head of the log at the
 * call, which may take minutes. Clicks that already have a delivery are not queued again. `accountId`: the required owner,
 * if given. @throws not_found, tier_required
 */
export async function replayFrom(
  deps: ReplayDeps,
  webhookId: string,
  from: Date,
  accountId?: string,
): Promise<Replayed> {
  const webhook = await entitledWebhook(deps, webhookId, accountId);
  const oldest = Date.parse(oldestRouted(deps.clock()));
  const since = new Date(Math.max(oldest, from.getTime())).toISOString();
  const upTo = (await deps.eventStore.head()) ?? "";
  const after = await positionBefore(deps, new Date(since));
  const replayed: Replayed = { since, found: 0, queued: 0 };
  const part = { after, upTo, categories: [CATEGORY.clicks], limit: BATCH };
  for await (const events of logPages(deps.eventStore, part)) {
    const wanted = events.filter(({ recordedAt }) => recordedAt >= since);
    const deliveries = wanted.flatMap((recorded) => deliveryOf(deps, webhook, recorded));
    replayed.found += deliveries.length;
    replayed.queued += await deps.deliveryQueue.enqueue(deliveries, deps.clock().toISOString());
  }
  return replayed;
}

function deliveryOf(
  { baseUrl }: Pick<ReplayDeps, "baseUrl">,
  { _id, accountId, kinds }: WebhookDocument,
  recorded: RecordedEvent,
): NewDelivery[] {
  const event = readableEvent(recorded);
  if (event?.type !== "LinkClicked" || isImportedClick(event.stream)) return [];
  const { data } = event;
  if (data.accountId !== accountId || !isRouted(data) || !kinds.includes(data.kind)) return [];
  return [clickDelivery(_id, event, baseUrl)];
}
