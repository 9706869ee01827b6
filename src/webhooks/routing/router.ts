// Turns events of links into deliveries: one ordered subscription to what routing depends on, with a place of its own in the log.
import type { StoredEvent } from "../../events/catalogue.ts";
import { EventUnreadable } from "../../events/read-event.ts";
import { CATEGORY } from "../../events/streams.ts";
import type { SetAsideEvent } from "../../stores/coordination/set-aside.ts";
import { categoryOf } from "../../stores/event-store/categories.ts";
import { type RecordedEvent, START } from "../../stores/event-store/port.ts";
import { type DeliveryQueue, type NewDelivery, oldestRouted } from "../queue/queue.ts";
import { deliveryMaker } from "./deliveries-of.ts";
import { foldAccounts } from "./directory.ts";
import { openPlaceInLog, type PlaceInLog, type RoutedPlaceDeps } from "./routed-place.ts";
import {
  foldSubscribers,
  hasWebhooks,
  noSubscribers,
  type Subscriber,
  type Subscribers,
  subscribersOf,
  takeEvent,
} from "./subscribers.ts";

export type RouterDeps = RoutedPlaceDeps & {
  queue: Pick<DeliveryQueue, "enqueue" | "cancel">;
  /** Of the default domain, without a trailing slash. */
  baseUrl: string;
  /** Called when new deliveries were queued. */
  onQueued: () => void;
  /** Called whenever a part of the log is routed. */
  onProgress: () => void;
};

type Routing = RouterDeps & {
  place: PlaceInLog;
  subscribers: Subscribers;
  deliveriesOf: ReturnType<typeof deliveryMaker>;
};

/** Of the events that routing depends on. */
export const ROUTED_CATEGORIES: readonly string[] = [CATEGORY.account, CATEGORY.link, CATEGORY.clicks];

/** Most events per write, and per move of the place. */
const BATCH = 2_000;

/**
 * Routes from the noted place on, until the signal aborts or the subscription is dropped. Deliveries are queued before the
 * place moves, and each once by its id, so a crash neither loses nor duplicates one.
 * @throws what the stores throw; EventNewer at an event of a newer program, which is not passed
 */
export async function routeClicks(deps: RouterDeps, signal: AbortSignal): Promise<void> {
  const place = await openPlaceInLog(deps);
  const routing = { ...deps, place, subscribers: noSubscribers(), deliveriesOf: deliveryMaker(deps) };
  const after = place.position;
  await foldAccounts(deps.eventStore, routing.subscribers, START, after, place.refuse);
  await retrySetAside(routing);
  const options = { after, categories: ROUTED_CATEGORIES, signal, batchSize: BATCH };
  for await (const { events, next } of deps.eventStore.subscribe(options)) {
    if (signal.aborted) return;
    const added = await queueDeliveries(routing, events);
    const last = events.at(-1);
    if (last) await place.move({ position: last.position, eventId: last.id });
    else await place.pass(next);
    if (added > 0) deps.onQueued();
    deps.onProgress();
  }
}

/**
 * Events that were set aside and can be read now, as after a repair, are routed to the webhooks that there are now, and no
 * longer noted. Those of accounts were folded at this start already.
 */
async function retrySetAside(routing: Routing): Promise<void> {
  const { eventStore, place } = routing;
  const readable: RecordedEvent[] = [];
  const still: SetAsideEvent[] = [];
  for (const passed of place.setAside) {
    const [recorded] = await eventStore.read(passed.stream, { from: passed.revision, limit: 1 });
    if (recorded?.position === passed.position && isReadable(recorded)) readable.push(recorded);
    else still.push(passed);
  }
  if (readable.length === 0) return;
  const ofLinks = readable.filter(({ stream }) => categoryOf(stream) !== CATEGORY.account);
  let added = 0;
  // One that can be read is refused again where the rest of its link still can't be.
  await place.settle(still, async () => {
    added = await queueDeliveries(routing, ofLinks);
  });
  if (added > 0) routing.onQueued();
}

function isReadable(recorded: RecordedEvent): boolean {
  let isRefused = false;
  const onRefused = () => {
    isRefused = true;
  };
  takeEvent(recorded, () => undefined, onRefused);
  return !isRefused;
}

/** An event with the webhooks that it goes to, as they were when it happened. */
type Routed = { recorded: RecordedEvent; event: StoredEvent; to: Subscriber[] };

/** Returns how many were new. */
async function queueDeliveries(routing: Routing, batch: readonly RecordedEvent[]): Promise<number> {
  const { clock, queue, subscribers, place } = routing;
  const now = clock();
  const oldest = oldestRouted(now);
  const routed: Routed[] = [];
  const removed: string[] = [];
  let isAnybodyTold = hasWebhooks(subscribers);
  for (const recorded of batch) {
    const isOfAccount = categoryOf(recorded.stream) === CATEGORY.account;
    // Nothing is parsed for nobody: many services have no webhook, and many clicks.
    if (!isAnybodyTold && !isOfAccount) continue;
    const take = (event: StoredEvent) => {
      removed.push(...foldSubscribers(subscribers, event));
      const to = recorded.recordedAt >= oldest ? subscribersOf(subscribers, event) : [];
      if (to.length > 0) routed.push({ recorded, event, to });
    };
    takeEvent(recorded, take, place.refuse);
    if (isOfAccount) isAnybodyTold = hasWebhooks(subscribers);
  }
  const deliveries: NewDelivery[] = [];
  for (const routedEvent of routed) deliveries.push(...(await deliveriesOf(routing, routedEvent)));
  const added = deliveries.length > 0 ? await queue.enqueue(deliveries, now.toISOString()) : 0;
  for (const webhookId of removed) await queue.cancel(webhookId, now.toISOString());
  return added;
}

/** None where the link's own stream can't be read. */
async function deliveriesOf(routing: Routing, { recorded, event, to }: Routed): Promise<NewDelivery[]> {
  try {
    return await routing.deliveriesOf(event, to);
  } catch (error) {
    if (!(error instanceof EventUnreadable)) throw error;
    routing.place.refuse(recorded, error);
    return [];
  }
}
