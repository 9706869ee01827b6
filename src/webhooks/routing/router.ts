// Turns events of links into deliveries: one ordered subscription to what routing depends on, with a place of its own in the log.

import { beginningOf } from "../../commands/begin-log.ts";
import type { StoredEvent } from "../../events/catalogue.ts";
import { EventUnreadable } from "../../events/read-event.ts";
import { CATEGORY } from "../../events/streams.ts";
import { pause } from "../../runtime/pause.ts";
import { type SetAside, type SetAsideEvent, setAsideEvent } from "../../stores/coordination/set-aside.ts";
import { categoryOf } from "../../stores/event-store/categories.ts";
import { isOfThisLog } from "../../stores/event-store/foreign-position.ts";
import { type EventStore, type Position, type RecordedEvent, START } from "../../stores/event-store/port.ts";
import { type DeliveryQueue, type NewDelivery, type RoutedPlace, setAsideIn } from "../queue/queue.ts";
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
  queue: Pick<DeliveryQueue, "routed" | "noteRouted" | "enqueue" | "cancel">;
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
  setAside: OnRefused;
  deliveriesOf: ReturnType<typeof deliveryMaker>;
  /** From where it goes on: as stored, with what was set aside since. */
  routed: RoutedPlace | undefined;
  passed: SetAside;
};

/** Of the events that routing depends on. */
export const ROUTED_CATEGORIES: readonly string[] = [CATEGORY.account, CATEGORY.link, CATEGORY.clicks];

/** Most events per write, and per move of the place. */
const BATCH = 2_000;
/** Between moves of the place while the service has no webhook: how soon the first one gets clicks. */
const SKIP_PAUSE_MS = 500;
/** Of the events that are set aside; others are counted. */
const MOST_NOTED = 100;
/** As many as an event can be routed after it was recorded (queue/retention.ts). */
const DAYS_KEPT = 31;
const DAY_LENGTH = "2026-03-01".length;

/**
 * Routes from the noted place on, until the signal aborts or the subscription is dropped. Deliveries are queued before the
 * place moves, and each once by its id, so a crash neither loses nor duplicates one.
 * @throws what the stores throw; EventNewer at an event of a newer program, which is not passed
 */
export async function routeClicks(deps: RouterDeps, signal: AbortSignal): Promise<void> {
  const routing = await openRouting(deps);
  let after: Position | undefined = routing.routed?.position ?? START;
  const { subscribers, setAside } = routing;
  await foldAccounts(deps.eventStore, subscribers, START, after, setAside);
  await retrySetAside(routing);
  while (after !== undefined) {
    if (!hasWebhooks(subscribers)) {
      const from: Position = after;
      after = await skipUntilFirstWebhook(routing, from, signal);
      if (after === undefined) return;
      await foldAccounts(deps.eventStore, subscribers, from, after, setAside);
    }
    after = await routeUntilLastWebhook(routing, after, signal);
  }
}

/** Returns the position after which no webhook is left; undefined when the signal aborts or the subscription is dropped. */
async function routeUntilLastWebhook(
  routing: Routing,
  after: Position,
  signal: AbortSignal,
): Promise<Position | undefined> {
  const options = { after, categories: ROUTED_CATEGORIES, signal, batchSize: BATCH };
  for await (const { events, next } of routing.eventStore.subscribe(options)) {
    if (signal.aborted) return undefined;
    if (events.length > 0) await routeBatch(routing, events);
    else await notePassed(routing, next);
    routing.onProgress();
    if (!hasWebhooks(routing.subscribers)) return next;
  }
  return undefined;
}

async function openRouting(deps: RouterDeps): Promise<Routing> {
  const routed = await placeInLog(deps);
  const { count, events } = setAsideIn(routed);
  const passed = { count, events: [...events] };
  const setAside: OnRefused = (recorded, error) => {
    const event = setAsideEvent(recorded, error);
    const { position } = event;
    // Events of accounts are read again at each start.
    if (passed.events.some((noted) => noted.position === position)) return;
    if (passed.events.length < MOST_NOTED) passed.events.push(event);
    else if (routed && position <= routed.position) return;
    passed.count += 1;
    deps.log.error(event, "an event can't be routed to webhooks and was set aside");
  };
  return {
    ...deps,
    subscribers: noSubscribers(),
    setAside,
    deliveriesOf: deliveryMaker(deps),
    routed,
    passed,
  };
}

/**
 * Events that were set aside and can be read now, as after a repair, are routed to the webhooks that there are now, and no
 * longer noted. Those of accounts were folded at this start already.
 */
async function retrySetAside(routing: Routing): Promise<void> {
  const { eventStore, passed, routed: place } = routing;
  const readable: RecordedEvent[] = [];
  const still: SetAsideEvent[] = [];
  for (const noted of passed.events) {
    const { stream, revision, position } = noted;
    const [recorded] = await eventStore.read(stream, { from: revision, limit: 1 });
    const isThere = recorded?.position === position && isReadable(recorded);
    if (isThere) readable.push(recorded);
    else still.push(noted);
  }
  if (readable.length === 0 || !place) return;
  passed.count -= readable.length;
  passed.events = still;
  const added = await queueDeliveries(
    routing,
    readable.filter(({ stream }) => categoryOf(stream) !== CATEGORY.account),
  );
  await noteRouted(routing, place);
  if (added > 0) routing.onQueued();
}

function isReadable(recorded: RecordedEvent): boolean {
  let isRefused = false;
  takeEvent(
    recorded,
    () => undefined,
    () => {
      isRefused = true;
    },
  );
  return !isRefused;
}

/**
 * Where the place is not of this log, as after an older copy of the log was put back, it goes back to the last day's that is:
 * what was delivered is in the queue and is not made again. Undefined: from the first event. @throws what the stores throw
 */
async function placeInLog({ eventStore, queue, log }: RouterDeps): Promise<RoutedPlace | undefined> {
  const routed = await queue.routed();
  if (!routed || (await isOfThisLog({ eventStore }, routed))) return routed;
  const days = [...routed.days];
  let earlier = days.at(-1);
  for (; earlier && !(await isOfThisLog({ eventStore }, earlier)); earlier = days.at(-1)) days.pop();
  log.error(
    { routed: routed.position, goesOnAfter: earlier?.position ?? null },
    "the log is not the one up to which webhooks were routed: it is routed again from an earlier place, and no delivery is made twice",
  );
  if (!earlier) return undefined;
  const { position, eventId } = earlier;
  const events = routed.setAside.events.filter((event) => event.position <= position);
  return { ...routed, position, eventId, setAside: { count: events.length, events }, days };
}

/**
 * Avoids reading all clicks while the service has no webhook: moves the place past them, and returns the last position
 * before the first webhook was added. Undefined as of `routeUntilLastWebhook`.
 */
async function skipUntilFirstWebhook(
  routing: Routing,
  from: Position,
  signal: AbortSignal,
): Promise<Position | undefined> {
  let after = from;
  const options = { after, categories: [CATEGORY.account], signal, batchSize: BATCH };
  for await (const { events, next } of routing.eventStore.subscribe(options)) {
    if (signal.aborted) return undefined;
    if (events.some(({ type }) => type === "WebhookAdded")) return after;
    after = next;
    await notePassed(routing, after);
    // Not before the place is noted, so that a store that can't be written is retried with backoff.
    routing.onProgress();
    await pause(SKIP_PAUSE_MS, signal);
  }
  return undefined;
}

/** An event with the webhooks that it goes to, as they were when it happened. */
type Routed = { recorded: RecordedEvent; event: StoredEvent; to: Subscriber[] };

async function routeBatch(routing: Routing, batch: readonly RecordedEvent[]): Promise<void> {
  const added = await queueDeliveries(routing, batch);
  const last = batch.at(-1);
  if (last) await noteRouted(routing, { position: last.position, eventId: last.id });
  if (added > 0) routing.onQueued();
}

/** Returns how many were new. */
async function queueDeliveries(routing: Routing, batch: readonly RecordedEvent[]): Promise<number> {
  const { clock, queue, subscribers, setAside } = routing;
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
  return added;
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

/** Where the log was looked through beyond the place, so that nobody does it again; any event there tells the log. */
async function notePassed(routing: Routing, position: Position): Promise<void> {
  if (position <= (routing.routed?.position ?? START)) return;
  const eventId = await routing.eventStore.idAt(position);
  if (eventId !== undefined) await noteRouted(routing, { position, eventId });
}

async function noteRouted(
  routing: Routing,
  { position, eventId }: { position: Position; eventId: string },
): Promise<void> {
  const day = routing.clock().toISOString().slice(0, DAY_LENGTH);
  const before = routing.routed?.days ?? [];
  const days =
    before.at(-1)?.day === day ? before : [...before, { day, position, eventId }].slice(-DAYS_KEPT);
  const logId = routing.routed?.logId ?? (await beginningOf(routing.eventStore))?.logId;
  routing.routed = {
    position,
    eventId,
    setAside: routing.passed,
    days,
    ...(logId !== undefined && { logId }),
  };
  await routing.queue.noteRouted(routing.routed);
}
