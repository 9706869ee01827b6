// How many deliveries a worker has in flight, whose turn it is, and what a stop or a failing queue does to them.

import { expect, it, onTestFinished } from "vitest";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import type { AttemptResult } from "../../../src/webhooks/delivery/send-delivery.ts";
import { DeliveryWorker, type WorkerSettings } from "../../../src/webhooks/delivery/worker.ts";
import type { DeliveryQueue } from "../../../src/webhooks/queue/queue.ts";
import { storeWith } from "../../support/runtime/store-with.ts";
import { SAMPLE_SECRETS } from "../../support/webhooks/send-sample.ts";
import { openWebhookStores } from "../../support/webhooks/webhook-run.ts";

const DELIVERED: AttemptResult = {
  ...{ at: "2026-03-01T12:00:00.000Z", durationMs: 1, status: 200 },
  ...{ error: null, answer: "", retryAfterMs: null, requestHeaders: {} },
};

it("has no more deliveries in flight than the limit in all, and goes on when one has ended", async () => {
  const { worker, sent } = await workerWith({ total: 3, perWebhook: 2 }, { a: 5, b: 5 });
  expect(await worker.startDue()).toBe(3);
  expect(await worker.startDue()).toBe(0);
  await expect.poll(() => sent.length).toBe(3);
  await endOf(worker, sent[0]);
  expect(await worker.startDue()).toBe(1);
  expect(worker.inFlight.size).toBe(3);
  await expect.poll(() => sent.length).toBe(4);
  for (const { answer } of sent) answer();
  await worker.settled();
});

it("lets deliveries in flight end when it is stopped", async () => {
  const { worker, sent, queue } = await workerWith({}, { a: 1 });
  const stopping = new AbortController();
  const running = worker.run(stopping.signal, () => {
    sent[0]?.answer();
    return 5_000;
  });
  await expect.poll(() => sent.length).toBe(1);
  stopping.abort();
  await running;
  expect(await queue.list({ webhookId: "a", limit: 1 })).toMatchObject([{ state: "delivered" }]);
});

it("puts a delivery off for a minute whose outcome could not be stored", async () => {
  const { worker, sent, queue } = await workerWith(
    {},
    { a: 1 },
    { settle: () => Promise.reject(new Error("no")) },
  );
  const before = Date.now();
  await worker.startDue();
  await expect.poll(() => sent.length).toBe(1);
  sent[0]?.answer();
  await worker.settled();
  const [delivery] = await queue.list({ webhookId: "a", limit: 1 });
  expect(delivery).toMatchObject({ state: "pending", tries: 0 });
  expect(Date.parse(delivery?.dueAt ?? "") - before).toBeGreaterThanOrEqual(60_000);
});

it("asks the queue for nothing of paused webhooks, whose deliveries wait", async () => {
  const { worker, sent, found } = await workerWith({}, { a: 1, b: 2 }, {}, ["b"]);
  expect(await worker.startDue()).toBe(1);
  await expect.poll(() => sent.length).toBe(1);
  expect(found).toEqual(["a"]);
  sent[0]?.answer();
  await worker.settled();
});

type Sent = { url: string; answer: () => void };

/** `waiting`: deliveries by webhook, whose id is its URL as well. */
async function workerWith(
  settings: Partial<WorkerSettings>,
  waiting: Record<string, number>,
  failing: Partial<DeliveryQueue> = {},
  paused: string[] = [],
) {
  const stores = await openWebhookStores();
  onTestFinished(() => stores.close());
  const queue = storeWith(stores.backend.deliveryQueue, failing);
  const deliveries = Object.entries(waiting).flatMap(([webhookId, count]) =>
    Array.from({ length: count }, (_, n) => ({
      ...{ webhookId, eventId: `event-${n}`, event: "link.clicked", body: "{}" },
    })),
  );
  await queue.enqueue(deliveries, new Date().toISOString());
  const sent: Sent[] = [];
  const found: string[] = [];
  const worker = new DeliveryWorker({
    ...runtimeDeps,
    queue,
    find(webhookId) {
      found.push(webhookId);
      return {
        ...{ webhookId, accountId: "account-1", url: webhookId },
        ...{ status: "active", activeSince: "2026-03-01T12:00:00.000Z" },
      };
    },
    paused: () => paused,
    keysOf: async () => [SAMPLE_SECRETS],
    send: ({ url }) =>
      new Promise((resolve) => {
        sent.push({ url, answer: () => resolve(DELIVERED) });
      }),
    pause: async () => undefined,
    log: { warn: () => undefined },
    settings,
  });
  return { worker, sent, found, queue };
}

/** Resolves when the worker has settled it. */
async function endOf(worker: DeliveryWorker, sent: Sent | undefined): Promise<void> {
  const before = worker.inFlight.size;
  sent?.answer();
  await expect.poll(() => worker.inFlight.size).toBe(before - 1);
}
