// Turns events of links into deliveries: one ordered subscription to what routing depends on, with its own checkpoint.

import type { StoredEvent } from "../../events/catalogue.ts";
import { EventUnreadable } from "../../events/read-event.ts";
import { ALL_CATEGORIES, CATEGORY } from "../../events/streams.ts";
import { pause, systemClock } from "../../runtime/pause.ts";
import {
  consumerCheckpoint,
  ROUTER_CHECKPOINT,
  ROUTER_NOTES,
} from "../../stores/coordination/consumer-checkpoint.ts";
import { newestEvent } from "../../stores/event-store/foreign-position.ts";
import { logPages } from "../../stores/event-store/log-pages.ts";
import type { EventStore, Position, RecordedEvent } from "../../stores/event-store/port.ts";
import type { Checkpoint, ReadStore } from "../../stores/read-store/port.ts";
import { SetAsideNotes, setAsideEvent } from "../../stores/read-store/set-aside.ts";
import type { DeliveryQueue, NewDelivery } from "../queue/queue.ts";
import { oldestRouted } from "../queue/retention.ts";
import { deliveryMaker } from "./deliveries-of.ts";
import { foldAccounts } from "./directory.ts";
import {
  foldSubscribers,
  hasWebhooks,
  noSubscribers,
  type OnRefused,
  type Subscriber,
  type Subscribers,
  subscribersOf,
  takeEvent,
} from "./subscribers.ts";

export type RouterDeps = {
  eventStore: EventStore;
  readStore: Pick<ReadStore, "find" | "drop" | "write" | "checkpoint" | "dropCheckpoint">;
  queue: Pick<DeliveryQueue, "enqueue" | "cancel">;
  clock: () => Date;
  /** Of the default domain, without a trailing slash. */
  baseUrl: string;
  /** Called when new deliveries were queued. */
  onQueued: () => void;
  /** Called whenever a part of the log is routed, or skipped as there is no webhook. */
  onProgress: () => void;
  log: { error(fields: object, message: string): void };
};

/** `setAside`: notes an event that can't be routed, and passes it. */
type Routing = RouterDeps & {
  subscribers: Subscribers;
  notes: SetAsideNotes;
  setAside: OnRefused;
  deliveriesOf: ReturnType<typeof deliveryMaker>;
  /** The checkpoint that is stored. */
  saved: Checkpoint | undefined;
};

/** Of the events that routing depends on. */
export const ROUTED_CATEGORIES: readonly string[] = [CATEGORY.account, CATEGORY.link, CATEGORY.clicks];

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
 * queued, and notes of events that can't be routed are stored, before the checkpoint moves, and each once by its id, so a
 * crash neither loses nor duplicates one.
 * @throws what the stores throw; EventNewer at an event of a newer program, which is not passed
 */
export async function routeClicks(deps: RouterDeps, signal: AbortSignal): Promise<void> {
  const routing = await openRouting(deps);
  let after = routing.saved?.position;
  const { subscribers, setAside } = routing;
  if (after !== undefined) await foldAccounts(deps.eventStore, subscribers, undefined, after, setAside);
  do {
    if (!hasWebhooks(subscribers)) {
      const from = after;
      after = await skipUntilFirstWebhook(routing, after, signal);
      if (after !== undefined) await foldAccounts(deps.eventStore, subscribers, from, after, setAside);
    }
    after = await routeUntilLastWebhook(routing, after, signal);
  } while (after !== undefined);
}

/** Returns the position after which no webhook is left; undefined when the signal aborts or the subscription is dropped. */
async function routeUntilLastWebhook(
  routing: Routing,
  after: Position | undefined,
  signal: AbortSignal,
): Promise<Position | undefined> {
  const options = { after, categories: ROUTED_CATEGORIES, signal, batchSize: BATCH };
  for await (const events of routing.eventStore.subscribe(options)) {
    if (signal.aborted) return undefined;
    await routeBatch(routing, events);
    routing.onProgress();
    if (!hasWebhooks(routing.subscribers)) return events.at(-1)?.position;
    if (events.length < BATCH) await pause(BATCH_PAUSE_MS, signal);
  }
  return undefined;
}

async function openRouting(deps: RouterDeps): Promise<Routing> {
  const notes = new SetAsideNotes();
  const saved = await savedCheckpoint(deps);
  await notes.restart(deps.readStore, ROUTER_NOTES, saved);
  const setAside: OnRefused = (recorded, error) => {
    const event = setAsideEvent(recorded, error);
    if (notes.add(event)) deps.log.error(event, "an event can't be routed to webhooks and was set aside");
  };
  return { ...deps, subscribers: noSubscribers(), notes, setAside, deliveriesOf: deliveryMaker(deps), saved };
}

/**
 * Where the checkpoint is of another log, as after an older copy was put back, it begins at the end of this one: what of it was
 * delivered before can't be told, and no receiver gets a click twice for it.
 */
async function savedCheckpoint(deps: RouterDeps): Promise<Checkpoint | undefined> {
  let foreign: Checkpoint | undefined;
  const stored = await consumerCheckpoint(deps, ROUTER_CHECKPOINT, ALL_CATEGORIES, (checkpoint) => {
    foreign = checkpoint;
  });
  if (stored) return stored;
  await deps.readStore.drop(ROUTER_NOTES);
  const last = foreign && (await newestEvent(deps, ALL_CATEGORIES));
  if (!foreign || !last) return undefined;
  const message =
    "the log is not the one whose clicks were delivered to webhooks: deliveries go on from its end, and none of before is made";
  deps.log.error({ checkpoint: foreign.position, position: last.position }, message);
  const to = { position: last.position, eventId: last.id };
  await deps.readStore.write({ documents: [], checkpoint: { name: ROUTER_CHECKPOINT, from: undefined, to } });
  return to;
}

/**
 * Avoids reading all clicks while the service has no webhook: advances the checkpoint with the head, and returns the
 * last position before the first webhook was added.
 */
async function skipUntilFirstWebhook(
  routing: Routing,
  from: Position | undefined,
  signal: AbortSignal,
): Promise<Position | undefined> {
  let after = from;
  let saved = from;
  let savedAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    const head = await routing.eventStore.head();
    if (head !== undefined && head !== after) {
      if (await isWebhookAddedIn(routing.eventStore, after, head)) return after;
      after = head;
    }
    const now = systemClock.now();
    if (after !== undefined && after !== saved && now - savedAt >= SKIP_SAVE_EVERY_MS) {
      const last = await newestEvent(routing, ALL_CATEGORIES);
      // Behind `after` there may be a webhook by now.
      if (last?.position === after) {
        await saveProgress(routing, last);
        saved = after;
      }
      savedAt = now;
    }
    // Not before the first save, so that a store that can't be written is retried with backoff.
    routing.onProgress();
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

/** An event with the webhooks that it goes to, as they were when it happened. */
type Routed = { recorded: RecordedEvent; event: StoredEvent; to: Subscriber[] };

async function routeBatch(routing: Routing, batch: readonly RecordedEvent[]): Promise<void> {
  const { clock, queue, subscribers, setAside, onQueued } = routing;
  const now = clock();
  const oldest = oldestRouted(now);
  const routed: Routed[] = [];
  const removed: string[] = [];
  for (const recorded of batch) {
    const take = (event: StoredEvent) => {
      removed.push(...foldSubscribers(subscribers, event));
      const to = recorded.recordedAt >= oldest ? subscribersOf(subscribers, event) : [];
      if (to.length > 0) routed.push({ recorded, event, to });
    };
    takeEvent(recorded, take, setAside);
  }
  const deliveries: NewDelivery[] = [];
  for (const routedEvent of routed) deliveries.push(...(await deliveriesOf(routing, routedEvent)));
  const added = await queue.enqueue(deliveries, now.toISOString());
  for (const webhookId of removed) await queue.cancel(webhookId, now.toISOString());
  const last = batch.at(-1);
  if (last) await saveProgress(routing, last);
  if (added > 0) onQueued();
}

/** None where the link's own stream can't be read. */
async function deliveriesOf(routing: Routing, { recorded, event, to }: Routed): Promise<NewDelivery[]> {
  try {
    return await routing.deliveriesOf(event, to);
  } catch (error) {
    if (!(error instanceof EventUnreadable)) throw error;
    routing.setAside(recorded, error);
    return [];
  }
}

/** The notes before the checkpoint that counts them. */
async function saveProgress(routing: Routing, { position, id }: RecordedEvent): Promise<void> {
  const { readStore, notes, saved: from } = routing;
  const to: Checkpoint = { position, eventId: id, ...notes.counted() };
  const documents = [{ collection: ROUTER_NOTES, documents: notes.drain() }];
  await readStore.write({ documents, checkpoint: { name: ROUTER_CHECKPOINT, from, to } });
  routing.saved = to;
}
