// Turns clicks into deliveries: one ordered subscription to account and click events with its own checkpoint.
import { consumerCheckpoint } from "../../coordination/consumer-checkpoint.ts";
import { logPages } from "../../event-store/log-pages.ts";
import type { EventStore, Position, RecordedEvent } from "../../event-store/port.ts";
import type { StoredEvent } from "../../events/catalogue.ts";
import { readEvent } from "../../events/read-event.ts";
import { CATEGORY, isImportedClick } from "../../events/streams.ts";
import type { ReadStore } from "../../read-store/port.ts";
import { pause, systemClock } from "../../runtime/pause.ts";
import type { DeliveryQueue, NewDelivery } from "../queue/queue.ts";
import { oldestRouted } from "../queue/retention.ts";
import { clickDelivery } from "./click-payload.ts";
import { foldAccounts } from "./directory.ts";
import {
  foldSubscribers,
  hasWebhooks,
  noSubscribers,
  type Subscribers,
  subscribersOf,
} from "./subscribers.ts";

export const ROUTER_CHECKPOINT = "webhooks-router";

export type RouterDeps = {
  eventStore: EventStore;
  readStore: Pick<ReadStore, "checkpoint" | "saveCheckpoint" | "resetCheckpoint">;
  queue: Pick<DeliveryQueue, "enqueue" | "cancel">;
  clock: () => Date;
  /** Of the default domain, without a trailing slash. */
  baseUrl: string;
  /** Called when new deliveries were queued. */
  onQueued: () => void;
  /** Called whenever a part of the log is routed, or skipped as there is no webhook. */
  onProgress: () => void;
};

/** Most events per write and checkpoint. */
const BATCH = 2_000;
/** Pause after a batch that is not full, so that under load each write takes many events. */
const BATCH_PAUSE_MS = 100;
/** Poll interval while the service has no webhook: how soon the first one gets clicks. */
const FIRST_WEBHOOK_POLL_MS = 200;
/** While the service has no webhook: what a crash repeats is a look at account events only. */
const SKIP_SAVE_EVERY_MS = 2_000;

/**
 * Routes from the committed checkpoint on, until the signal aborts or the subscription is dropped. Deliveries are
 * queued before the checkpoint moves and their ids are unique per webhook and event, so a crash neither loses nor
 * duplicates one.
 * @throws what the stores throw; EventUnreadable at an event of a newer version of the service, which is not skipped
 */
export async function routeClicks(deps: RouterDeps, signal: AbortSignal): Promise<void> {
  let after = await consumerCheckpoint(deps, ROUTER_CHECKPOINT);
  const subscribers = noSubscribers();
  if (after !== undefined) await foldAccounts(deps.eventStore, subscribers, undefined, after);
  do {
    if (!hasWebhooks(subscribers)) {
      const from = after;
      after = await skipUntilFirstWebhook(deps, after, signal);
      if (after !== undefined) await foldAccounts(deps.eventStore, subscribers, from, after);
    }
    after = await routeUntilLastWebhook(deps, subscribers, after, signal);
  } while (after !== undefined);
}

/** Returns the position after which no webhook is left; undefined when the signal aborts or the subscription is dropped. */
async function routeUntilLastWebhook(
  deps: RouterDeps,
  subscribers: Subscribers,
  after: Position | undefined,
  signal: AbortSignal,
): Promise<Position | undefined> {
  const categories = [CATEGORY.account, CATEGORY.clicks];
  for await (const events of deps.eventStore.subscribe({ after, categories, signal, batchSize: BATCH })) {
    if (signal.aborted) return undefined;
    await routeBatch(deps, subscribers, events);
    deps.onProgress();
    if (!hasWebhooks(subscribers)) return events.at(-1)?.position;
    if (events.length < BATCH) await pause(BATCH_PAUSE_MS, signal);
  }
  return undefined;
}

/**
 * Avoids reading all clicks while the service has no webhook: advances the checkpoint with the head, and returns the
 * last position before the first webhook was added.
 */
async function skipUntilFirstWebhook(
  deps: RouterDeps,
  from: Position | undefined,
  signal: AbortSignal,
): Promise<Position | undefined> {
  let after = from;
  let saved = from;
  let savedAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    const head = await deps.eventStore.head();
    if (head !== undefined && head !== after) {
      if (await isWebhookAddedIn(deps.eventStore, after, head)) return after;
      after = head;
    }
    deps.onProgress();
    const now = systemClock.now();
    if (after !== undefined && after !== saved && now - savedAt >= SKIP_SAVE_EVERY_MS) {
      await deps.readStore.saveCheckpoint(ROUTER_CHECKPOINT, { position: after });
      [saved, savedAt] = [after, now];
    }
    await pause(FIRST_WEBHOOK_POLL_MS, signal);
  }
  return after;
}

async function isWebhookAddedIn(
  eventStore: EventStore,
  after: Position | undefined,
  upTo: Position,
): Promise<boolean> {
  const part = { after, upTo, categories: [CATEGORY.account], limit: BATCH };
  for await (const events of logPages(eventStore, part))
    if (events.some(({ type }) => type === "WebhookAdded")) return true;
  return false;
}

async function routeBatch(
  deps: RouterDeps,
  subscribers: Subscribers,
  batch: readonly RecordedEvent[],
): Promise<void> {
  const now = deps.clock();
  const oldest = oldestRouted(now);
  const deliveries: NewDelivery[] = [];
  const removed: string[] = [];
  for (const recorded of batch) {
    const event = readEvent(recorded);
    if (!event) continue;
    removed.push(...foldSubscribers(subscribers, event));
    if (recorded.recordedAt >= oldest) deliveries.push(...deliveriesOf(deps, subscribers, event));
  }
  const added = await deps.queue.enqueue(deliveries, now.toISOString());
  for (const webhookId of removed) await deps.queue.cancel(webhookId, now.toISOString());
  const last = batch.at(-1);
  if (last) await deps.readStore.saveCheckpoint(ROUTER_CHECKPOINT, { position: last.position });
  if (added > 0) deps.onQueued();
}

function deliveriesOf(
  { baseUrl }: Pick<RouterDeps, "baseUrl">,
  subscribers: Subscribers,
  event: StoredEvent,
): NewDelivery[] {
  // Imported clicks happened elsewhere, some of them years ago: no receiver is told.
  if (event.type !== "LinkClicked" || isImportedClick(event.stream)) return [];
  return subscribersOf(subscribers, event.data).map(({ webhookId }) =>
    clickDelivery(webhookId, event, baseUrl),
  );
}
