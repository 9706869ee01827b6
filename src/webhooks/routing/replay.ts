// Queues deliveries for past clicks: from before a webhook was added, or from while it was paused.
import { logPages } from "../../event-store/log-pages.ts";
import type { EventStore, RecordedEvent } from "../../event-store/port.ts";
import { readEvent } from "../../events/read-event.ts";
import { isImportedClick, PREFIX } from "../../events/streams.ts";
import type { ClickKind } from "../../events/vocabulary.ts";
import { positionBefore } from "../../queries/analytics/click-log.ts";
import type { ReadStore } from "../../read-store/port.ts";
import type { DeliveryQueue, NewDelivery } from "../queue/queue.ts";
import { oldestRouted } from "../queue/retention.ts";
import { clickDelivery } from "./click-payload.ts";
import { isRouted } from "./subscribers.ts";

export type ReplayDeps = {
  eventStore: Pick<EventStore, "readAll" | "head">;
  readStore: Pick<ReadStore, "find">;
  queue: Pick<DeliveryQueue, "enqueue">;
  clock: () => Date;
};

/** `since`: earliest recording time of the clicks, ISO 8601 UTC; at most 30 days ago. */
export type ReplayRequest = {
  accountId: string;
  webhookId: string;
  kinds: readonly ClickKind[];
  since: string;
};

/** `found`: clicks that match the webhook; `queued`: those that had no delivery yet. */
export type Replayed = { since: string; found: number; queued: number };

const BATCH = 2_000;

/** Reads the log up to its head at the time of the call. Clicks that already have a delivery are not queued again. */
export async function replayClicks(deps: ReplayDeps, request: ReplayRequest): Promise<Replayed> {
  const oldest = Date.parse(oldestRouted(deps.clock()));
  const since = new Date(Math.max(oldest, Date.parse(request.since))).toISOString();
  const upTo = (await deps.eventStore.head()) ?? "";
  const after = await positionBefore(deps, new Date(since));
  const replayed: Replayed = { since, found: 0, queued: 0 };
  const part = { after, upTo, prefixes: [PREFIX.clicks], limit: BATCH };
  for await (const events of logPages(deps.eventStore, part)) {
    const wanted = events.filter(({ recordedAt }) => recordedAt >= since);
    const deliveries = wanted.flatMap((recorded) => deliveryOf(request, recorded));
    replayed.found += deliveries.length;
    replayed.queued += await deps.queue.enqueue(deliveries, deps.clock().toISOString());
  }
  return replayed;
}

function deliveryOf(request: ReplayRequest, recorded: RecordedEvent): NewDelivery[] {
  const { accountId, webhookId, kinds } = request;
  const event = readEvent(recorded);
  if (event?.type !== "LinkClicked" || isImportedClick(event.stream)) return [];
  const { data } = event;
  if (data.accountId !== accountId || !isRouted(data) || !kinds.includes(data.kind)) return [];
  return [clickDelivery(webhookId, event)];
}
