// The parts of webhooks run together: how they end, and what is told of a router that is stuck.
import { expect, it, onTestFinished } from "vitest";
import { StoreFailed } from "../../../src/stores/connections/errors.ts";
import type { EventStore } from "../../../src/stores/event-store/port.ts";
import { storeWith } from "../../support/runtime/store-with.ts";
import { webhookOf } from "../../support/webhooks/webhook-of.ts";
import { openWebhookStores, webhooksOn } from "../../support/webhooks/webhook-run.ts";

it("tells why the router is stuck, in one line of the log, until it goes on", async () => {
  const stores = await openWebhookStores();
  onTestFinished(() => stores.close());
  const account = await stores.account();
  await webhookOf(stores.backend, account, 8080);
  await stores.clicks(account, 1);
  let isDamaged = true;
  const eventStore = storeWith<EventStore>(stores.backend.eventStore, {
    readAll: (options) =>
      isDamaged
        ? Promise.reject(new StoreFailed("events.db: malformed"))
        : stores.backend.eventStore.readAll(options),
    async *subscribe(options) {
      if (isDamaged) throw new StoreFailed("events.db: malformed");
      yield* stores.backend.eventStore.subscribe(options);
    },
  });
  const warned: string[] = [];
  const webhooks = webhooksOn(
    { ...stores.backend, eventStore },
    {
      send: () => Promise.reject(new Error("nobody listens")),
      random: () => 0,
      log: { warn: (_, message) => void warned.push(message), error: () => undefined },
    },
  );
  const stop = new AbortController();
  const running = webhooks.run(stop.signal, () => 0);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const failure = async () => (await webhooks.status()).routerFailure;
  await expect.poll(failure).toBe("events.db: malformed");
  expect((await webhooks.status()).routerLagMs).toBeUndefined();
  isDamaged = false;
  await expect.poll(failure, { timeout: 20_000 }).toBeUndefined();
  expect(warned.filter((message) => message.includes("router"))).toEqual([
    "webhook router interrupted, retrying",
  ]);
});
