// Queues deliveries for past events on the owner's request: from before a webhook was added, or from while it was paused.

import { readableEvent } from "../../events/read-event.ts";
import { CATEGORY } from "../../events/streams.ts";
import { selectionOf } from "../../events/webhook-selection.ts";
import { positionBefore } from "../../queries/analytics/log-positions.ts";
import { entitledWebhook } from "../../queries/webhooks.ts";
import { logPages } from "../../stores/event-store/log-pages.ts";
import { type EventStore, type LogPage, type Position, START } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { type DeliveryQueue, type NewDelivery, oldestRouted } from "../queue/queue.ts";
import { deliveryMaker, noneOfUnreadable, selects } from "../routing/deliveries-of.ts";

export type ReplayDeps = {
  eventStore: Pick<EventStore, "readAll" | "read" | "head">;
  readStore: ReadStore;
  deliveryQueue: Pick<DeliveryQueue, "enqueue">;
  clock: () => Date;
  /** Of the default domain, without a trailing slash. */
  baseUrl: string;
};

/** `found`: events that the webhook selects; `queued`: those that had no delivery yet. */
export type Replayed = { since: string; found: number; queued: number };

const BATCH = 2_000;

/**
 * Reads all clicks and changes of links of the service that were recorded since `from`, 30 days ago at most, up to the
 * head of the log at the call, which may take minutes. Those that already have a delivery are not queued again.
 * `accountId`: the required owner, if given. @throws not_found, tier_required
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
  const upTo = await deps.eventStore.head();
  const deliveriesOf = deliveryMaker(deps);
  const selection = { webhookId, ...selectionOf(webhook) };
  const after = await positionBefore(deps, new Date(since));
  const replayed: Replayed = { since, found: 0, queued: 0 };
  // Changes of links may be older in the log, where a clock was ahead.
  const parts = [
    { after: START, upTo: after, categories: [CATEGORY.link] },
    { after, upTo, categories: [CATEGORY.clicks, CATEGORY.link] },
  ];
  for await (const { events } of pagesOf(deps, parts)) {
    const recent = events.filter(({ recordedAt }) => recordedAt >= since);
    const deliveries: NewDelivery[] = [];
    for (const recorded of recent) {
      const event = readableEvent(recorded);
      const isOwn = event && "accountId" in event.data && event.data.accountId === webhook.accountId;
      if (isOwn && selects(selection, event))
        deliveries.push(...(await deliveriesOf(event, [selection]).catch(noneOfUnreadable)));
    }
    replayed.found += deliveries.length;
    replayed.queued += await deps.deliveryQueue.enqueue(deliveries, deps.clock().toISOString());
  }
  return replayed;
}

async function* pagesOf(
  { eventStore }: Pick<ReplayDeps, "eventStore">,
  parts: readonly { after: Position; upTo: Position; categories: readonly string[] }[],
): AsyncGenerator<LogPage> {
  for (const part of parts) yield* logPages(eventStore, { ...part, limit: BATCH });
}
