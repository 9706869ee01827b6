// The router across failures and restarts: no delivery is lost, none is duplicated.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { removeWebhook } from "../../../src/commands/webhooks/webhooks.ts";
import { IMPORT_WRITER } from "../../../src/events/streams.ts";
import { ROUTER_CHECKPOINT, routerSetAside } from "../../../src/stores/coordination/consumer-checkpoint.ts";
import type { EventStore } from "../../../src/stores/event-store/port.ts";
import type { ReadStore } from "../../../src/stores/read-store/port.ts";
import type { DeliveryQueue } from "../../../src/webhooks/queue/queue.ts";
import { oldestKept, oldestRouted } from "../../../src/webhooks/queue/retention.ts";
import { routeClicks } from "../../../src/webhooks/routing/router.ts";
import { operator } from "../../support/commands/command-deps.ts";
import { appendNext } from "../../support/event-store/append-next.ts";
import { failingReadStore } from "../../support/projections/failing-read-store.ts";
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
    readStore?: ReadStore;
    queue?: Pick<DeliveryQueue, "enqueue" | "cancel">;
    clock?: () => Date;
  };

  /** Resolves when the router's checkpoint is at the end of the log. */
  async function passed(): Promise<void> {
    const { eventStore, readStore } = stores.backend;
    const head = await eventStore.head();
    const position = async () => (await readStore.checkpoint(ROUTER_CHECKPOINT))?.position;
    await until("the router to pass the head", async () => (await position()) === head);
  }

  /** Routes until everything that is in the log now, and then what `more` appends, is routed, or an error is thrown. */
  async function route(parts: Parts = {}, more?: () => Promise<void>): Promise<void> {
    const { eventStore, readStore, deliveryQueue } = stores.backend;
    const stop = new AbortController();
    const deps = {
      eventStore,
      readStore,
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

  it("queues each click once, however often a write fails before or after it took effect", async () => {
    const account = await stores.account();
    const hook = await hookFor(account);
    const ids = await stores.clicks(account, 300);
    const { readStore, deliveryQueue } = stores.backend;
    for (const applied of [false, true, false, true]) {
      const breaking = failingReadStore(readStore, [{ afterWrites: 0, applied }]);
      await expect(route({ readStore: breaking })).rejects.toThrow("the read store is unavailable");
      ids.push(...(await stores.clicks(account, 50)));
    }
    for (const applied of [false, true]) {
      const enqueue: DeliveryQueue["enqueue"] = async (items, now) => {
        if (applied) await deliveryQueue.enqueue(items, now);
        throw new Error("the queue is unavailable");
      };
      const queue = { enqueue, cancel: deliveryQueue.cancel.bind(deliveryQueue) };
      await expect(route({ queue })).rejects.toThrow("the queue is unavailable");
    }
    await route();
    expect(await deliveries(hook)).toEqual(ids.sort());
  });

  it("creates no second delivery when it restarts without a checkpoint", async () => {
    const account = await stores.account();
    const hook = await hookFor(account);
    const ids = await stores.clicks(account, 100);
    await route();
    const { readStore, deliveryQueue } = stores.backend;
    const before = await deliveryQueue.list({ webhookId: hook, limit: 1_000 });
    await readStore.dropCheckpoint(ROUTER_CHECKPOINT);
    await route();
    expect(await deliveryQueue.list({ webhookId: hook, limit: 1_000 })).toEqual(before);
    expect(before).toHaveLength(ids.length);
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
    const { eventStore, readStore } = stores.backend;
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
    for (const afterWrites of [0, 1])
      for (const applied of [true, false]) {
        const breaking = failingReadStore(readStore, [{ afterWrites, applied }]);
        await route({ readStore: breaking }).catch(() => undefined);
      }
    await route();
    ids.push(...(await stores.clicks(account, 1)));
    await route();
    expect(await deliveries(hook)).toEqual(ids.sort());
    expect(await routerSetAside(readStore)).toMatchObject({
      count: 1,
      events: [{ ...place, position, type: "LinkClicked" }],
    });
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
