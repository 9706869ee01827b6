// The router across failures and restarts: no delivery is lost, none is duplicated.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addWebhook, removeWebhook } from "../../../src/commands/webhooks/change-webhooks.ts";
import { CATEGORY, IMPORT_WRITER } from "../../../src/events/streams.ts";
import { type EventStore, START } from "../../../src/stores/event-store/port.ts";
import {
  type DeliveryQueue,
  oldestKept,
  oldestRouted,
  type RoutedPlace,
  setAsideIn,
} from "../../../src/webhooks/queue/queue.ts";
import { routeClicks } from "../../../src/webhooks/routing/router.ts";
import { operator } from "../../support/commands/command-deps.ts";
import { appendNext } from "../../support/event-store/append-next.ts";
import { storeWith } from "../../support/runtime/store-with.ts";
import { append } from "../../support/runtime/stores.ts";
import { until } from "../../support/runtime/until.ts";
import { webhookDeps, webhookOf } from "../../support/webhooks/webhook-of.ts";
import { openWebhookStores, type WebhookStores } from "../../support/webhooks/webhook-run.ts";

const DAY = 86_400_000;

describe("the webhook router", () => {
  let stores: WebhookStores;
  beforeEach(async () => {
    stores = await openWebhookStores();
  });
  afterEach(() => stores.close());

  type Parts = {
    eventStore?: EventStore;
    queue?: DeliveryQueue;
    clock?: () => Date;
  };

  /** Resolves when the router is at the end of the log. */
  async function passed(): Promise<void> {
    const { eventStore, deliveryQueue } = stores.backend;
    const head = await eventStore.head();
    await until("the router to pass the head", async () => {
      return (await deliveryQueue.routed())?.position === head;
    });
  }

  /** Routes until everything that is in the log now, and then what `more` appends, is routed, or an error is thrown. */
  async function route(parts: Parts = {}, more?: () => Promise<void>): Promise<void> {
    const { eventStore, deliveryQueue } = stores.backend;
    const stop = new AbortController();
    const deps = {
      eventStore,
      queue: deliveryQueue,
      clock: () => new Date(),
      baseUrl: "https://sho.rt",
      onQueued: () => undefined,
      onProgress: () => undefined,
      log: { error: () => undefined },
    };
    const routing = routeClicks({ ...deps, ...parts }, stop.signal);
    const done = passed().then(more).then(passed);
    await Promise.race([routing, done]).finally(() => stop.abort());
    await routing;
  }
  const deliveries = async (webhookId: string) =>
    (await stores.backend.deliveryQueue.list({ webhookId, limit: 1_000 }))
      .map(({ eventId }) => eventId)
      .sort();
  const hookFor = async (accountId: string) => (await webhookOf(stores.backend, accountId, 8080)).webhookId;

  /** Fails at its first write of this kind, before or after it took effect. */
  const failingAt = (write: "noteRouted" | "enqueue", applied: boolean): DeliveryQueue => {
    const { deliveryQueue } = stores.backend;
    const fail = async (...args: unknown[]): Promise<never> => {
      if (applied) await (deliveryQueue[write] as (...args: unknown[]) => Promise<unknown>)(...args);
      throw new Error("the queue is unavailable");
    };
    return storeWith(deliveryQueue, { [write]: fail });
  };

  it("queues each click once, however often a write fails before or after it took effect", async () => {
    const account = await stores.account();
    const hook = await hookFor(account);
    const ids = await stores.clicks(account, 300);
    for (const write of ["noteRouted", "enqueue"] as const)
      for (const applied of [false, true, false, true]) {
        await expect(route({ queue: failingAt(write, applied) })).rejects.toThrow("the queue is unavailable");
        ids.push(...(await stores.clicks(account, 50)));
      }
    await route();
    expect(await deliveries(hook)).toEqual(ids.sort());
  });

  it("creates no second delivery when it begins anew", async () => {
    const account = await stores.account();
    const hook = await hookFor(account);
    const ids = await stores.clicks(account, 100);
    await route();
    const { deliveryQueue } = stores.backend;
    const before = await deliveryQueue.list({ webhookId: hook, limit: 1_000 });
    const place = await deliveryQueue.routed();
    if (place) await deliveryQueue.noteRouted({ ...place, eventId: "of another log", days: [] });
    await route();
    expect(await deliveryQueue.list({ webhookId: hook, limit: 1_000 })).toEqual(before);
    expect(before).toHaveLength(ids.length);
  });

  it("goes back to an earlier day's place where the log was put back from an older copy, and makes up for what it lacks", async () => {
    const account = await stores.account();
    const hook = await hookFor(account);
    const ids = await stores.clicks(account, 3);
    const { deliveryQueue } = stores.backend;
    await route();
    const first = await deliveryQueue.routed();
    ids.push(...(await stores.clicks(account, 3)));
    await route({ clock: () => new Date(Date.now() + DAY) });
    const before = await deliveryQueue.list({ webhookId: hook, limit: 1_000 });
    const routed = await deliveryQueue.routed();
    // As if events of the other log were at these places.
    const [known, ...others] = routed?.days ?? [];
    expect([known, others.length]).toEqual([expect.objectContaining({ position: first?.position }), 1]);
    const foreign = others.map((place) => ({ ...place, eventId: "of another log" }));
    const position = `${"9".repeat(routed?.position.length ?? 0)}`;
    await deliveryQueue.noteRouted({
      ...(routed as RoutedPlace),
      position,
      days: [known, ...foreign] as never,
    });
    const added = await stores.clicks(account, 3);
    const reads: (string | undefined)[] = [];
    const { eventStore } = stores.backend;
    const subscribe: EventStore["subscribe"] = (options) => {
      reads.push(options.after);
      return eventStore.subscribe(options);
    };
    await route({ eventStore: storeWith(eventStore, { subscribe }) });
    expect(reads[0]).toBe(first?.position);
    expect(await deliveries(hook)).toEqual([...ids, ...added].sort());
    expect(await deliveryQueue.list({ webhookId: hook, limit: 1_000 })).toEqual(
      expect.arrayContaining(before),
    );
  });

  it("queues nothing for imported clicks", async () => {
    const account = await stores.account();
    const hook = await hookFor(account);
    const [own] = await stores.clicks(account, 1);
    await stores.clicks(account, 3, `clicks-${IMPORT_WRITER}0123456789abcdef-20260301`);
    await route();
    expect(await deliveries(hook)).toEqual([own]);
  });

  it("queues clicks of an account that was opened while the service had no webhook yet", async () => {
    const account = await stores.account();
    let [hook, ids]: [string, string[]] = ["", []];
    await route({}, async () => {
      hook = await hookFor(account);
      ids = await stores.clicks(account, 2);
    });
    expect(await deliveries(hook)).toEqual(ids.sort());
  });

  it("creates no delivery for events older than the retention, and keeps deliveries that it may create again", async () => {
    const account = await stores.account();
    const hook = await hookFor(account);
    await stores.clicks(account, 3);
    const later = new Date(Date.now() + 31 * DAY);
    await route({ clock: () => later });
    expect(await deliveries(hook)).toEqual([]);
    expect(oldestKept(later) < oldestRouted(later)).toBe(true);
  });

  it("cancels pending deliveries of a removed webhook, also those that it queued in the same batch", async () => {
    const account = await stores.account();
    const [hook, other] = [await hookFor(account), await hookFor(account)];
    await stores.clicks(account, 5);
    await removeWebhook(webhookDeps(stores.backend), operator, account, hook);
    await stores.clicks(account, 2);
    await route();
    const { deliveryQueue } = stores.backend;
    expect(await deliveryQueue.list({ webhookId: hook, state: "cancelled", limit: 100 })).toHaveLength(5);
    expect(await deliveries(hook)).toHaveLength(5);
    expect(await deliveryQueue.list({ webhookId: other, state: "pending", limit: 100 })).toHaveLength(7);
  });

  it("notes an event that it can't read once, whatever fails, and delivers all others", async () => {
    const { eventStore, deliveryQueue } = stores.backend;
    const account = await stores.account();
    const hook = await hookFor(account);
    const ids = await stores.clicks(account, 2);
    const metadata = {
      ...{ schemaVersion: 1, correlationId: "x", causationId: "x" },
      actor: { type: "operator" as const },
    };
    const bad = (type: string, data: object) => ({ id: crypto.randomUUID(), type, data, metadata });
    const place = { stream: "clicks-bad-20260301", revision: 0 };
    const { position } = await eventStore.append(place.stream, "none", [bad("LinkClicked", { link: "a/b" })]);
    // Nothing is routed by it.
    await appendNext(eventStore, `account-${account}`, [bad("KeyIssued", { keyId: 1 })]);
    ids.push(...(await stores.clicks(account, 2)));
    for (const write of ["enqueue", "noteRouted"] as const)
      for (const applied of [true, false])
        await route({ queue: failingAt(write, applied) }).catch(() => undefined);
    await route();
    ids.push(...(await stores.clicks(account, 1)));
    await route();
    expect(await deliveries(hook)).toEqual(ids.sort());
    expect(setAsideIn(await deliveryQueue.routed())).toMatchObject({
      count: 1,
      events: [{ ...place, position, type: "LinkClicked" }],
    });
  });

  it("delivers an event that was set aside once it can be read, and notes it no longer", async () => {
    const { eventStore, deliveryQueue } = stores.backend;
    const account = await stores.account();
    const hook = await hookFor(account);
    const ids = await stores.clicks(account, 1);
    const clicks = (await eventStore.readAll({ after: START, categories: [CATEGORY.clicks], limit: 1 }))
      .events;
    const metadata = {
      ...{ schemaVersion: 1, correlationId: "x", causationId: "x" },
      actor: { type: "operator" as const },
    };
    const id = crypto.randomUUID();
    const stream = "clicks-bad-20260301";
    const spoilt = { id, type: "LinkClicked", data: { link: "a/b" }, metadata };
    const worse = { ...spoilt, id: crypto.randomUUID() };
    await eventStore.append(stream, "none", [spoilt, worse]);
    await route();
    expect(setAsideIn(await deliveryQueue.routed()).count).toBe(2);
    const mended = storeWith(eventStore, {
      async read(name, options) {
        const events = await eventStore.read(name, options);
        return events.map((event) => (event.id === id ? { ...event, data: clicks[0]?.data ?? {} } : event));
      },
    } satisfies Pick<EventStore, "read">);
    await route({ eventStore: mended, queue: failingAt("noteRouted", false) }).catch(() => undefined);
    expect(setAsideIn(await deliveryQueue.routed()).count).toBe(2);
    await route({ eventStore: mended });
    expect(await deliveries(hook)).toEqual([...ids, id].sort());
    const { count, events } = setAsideIn(await deliveryQueue.routed());
    expect([count, events.map(({ revision }) => revision)]).toEqual([1, [1]]);
  });

  it("notes again what can be read of a link whose other events can't, whenever it begins", async () => {
    const { eventStore, deliveryQueue } = stores.backend;
    const account = await stores.account();
    const url = "http://127.0.0.1:8080/hook";
    const wanted = { url, events: ["link.created", "link.updated"] };
    await addWebhook(webhookDeps(stores.backend), operator, account, wanted);
    const metadata = {
      ...{ schemaVersion: 1, correlationId: "x", causationId: "x" },
      actor: { type: "operator" as const },
    };
    const disabled = { host: "sho.rt", slug: "x", accountId: account, at: new Date().toISOString() };
    await eventStore.append("link-sho.rt/x", "none", [
      { id: crypto.randomUUID(), type: "LinkCreated", data: { slug: 1 }, metadata },
      { id: crypto.randomUUID(), type: "LinkDisabled", data: disabled, metadata },
    ]);
    for (let start = 0; start < 3; start++) {
      await route();
      const { count, events } = setAsideIn(await deliveryQueue.routed());
      expect([count, events.map(({ revision }) => revision)]).toEqual([2, [0, 1]]);
    }
  });

  it("waits at an event of a newer program instead of passing it", async () => {
    const account = await stores.account();
    const hook = await hookFor(account);
    await stores.clicks(account, 1);
    await route();
    const metadata = {
      schemaVersion: 99,
      correlationId: "x",
      causationId: "x",
      actor: { type: "operator" as const },
    };
    const fromTheFuture = { id: crypto.randomUUID(), type: "LinkClicked", data: {}, metadata };
    await stores.backend.eventStore.append("clicks-newer-20260301", "none", [fromTheFuture]);
    await stores.clicks(account, 1);
    await expect(route()).rejects.toThrow(/LinkClicked at revision 0 of clicks-newer/);
    expect(await deliveries(hook)).toHaveLength(1);
  });

  it("cancels pending deliveries of a closed account by AccountClosed alone, and queues none of its later clicks", async () => {
    const account = await stores.account();
    const hook = await hookFor(account);
    await stores.clicks(account, 3);
    await route();
    const { eventStore, deliveryQueue } = stores.backend;
    const data = { accountId: account, at: new Date().toISOString() };
    await append(eventStore, `account-${account}`, [{ type: "AccountClosed", data }]);
    await stores.clicks(account, 2);
    await route();
    const states = (await deliveryQueue.list({ webhookId: hook, limit: 10 })).map(({ state }) => state);
    expect(states).toEqual(["cancelled", "cancelled", "cancelled"]);
  });
});
