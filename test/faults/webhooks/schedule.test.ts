// The complete retry schedule with a simulated clock, a real receiver and a real queue.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { TRY_DELAYS_MS } from "../../../src/webhooks/delivery/schedule.ts";
import { DeliveryWorker } from "../../../src/webhooks/delivery/worker.ts";
import { deliveryId } from "../../../src/webhooks/queue/queue.ts";
import type { Receiver } from "../../../src/webhooks/routing/subscribers.ts";
import { SAMPLE_SECRETS } from "../../support/webhooks/send-sample.ts";
import { type AnswerRequest, startReceiver } from "../../support/webhooks/webhook-receiver.ts";
import { loopbackSender, openWebhookStores, type WebhookStores } from "../../support/webhooks/webhook-run.ts";

const START = Date.UTC(2026, 2, 1, 12);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const HOOK = "hook-1";
const ACCOUNT = "account-1";

describe("a delivery through its schedule", () => {
  let stores: WebhookStores;
  let sender: ReturnType<typeof loopbackSender>;
  let now: number;
  let pausedFor: string[];
  /** What the webhook's owner has changed. */
  let changed: Partial<Receiver>;
  /** By how much the clock was set back; `now` goes on. */
  let setBackMs: number;
  const clock = () => new Date(now - setBackMs);
  const queue = () => stores.backend.deliveryQueue;
  beforeEach(async () => {
    now = START;
    setBackMs = 0;
    pausedFor = [];
    changed = {};
    stores = await openWebhookStores();
    sender = loopbackSender(clock);
  });
  afterEach(async () => {
    sender.destroy();
    await stores.close();
  });

  const workerTo = (port: number, random = () => 0.5) => {
    const webhook: Receiver = {
      ...{ webhookId: HOOK, accountId: ACCOUNT, url: `http://127.0.0.1:${port}/` },
      ...{ status: "active", activeSince: new Date(START).toISOString() },
    };
    return new DeliveryWorker({
      queue: queue(),
      paused: () => (pausedFor.length > 0 ? [HOOK] : []),
      find: () => ({ ...webhook, ...changed, ...(pausedFor.length > 0 ? { status: "paused" } : {}) }),
      keysOf: async () => [SAMPLE_SECRETS],
      send: sender.send,
      pause: async (_, { reason }) => void pausedFor.push(reason),
      clock,
      now: () => now,
      newId: runtimeDeps.newId,
      random,
      log: { warn: () => undefined },
    });
  };
  const enqueue = (...eventIds: string[]) =>
    queue().enqueue(
      eventIds.map((eventId) => ({ webhookId: HOOK, eventId, event: "link.queued", body: '{"n":1}' })),
      clock().toISOString(),
    );
  const pollNow = async (worker: DeliveryWorker) => {
    const started = await worker.startDue();
    await worker.settled();
    return started;
  };
  /** Polls when a delivery is due, in steps of at least `leastStep` ms; returns the times of the attempts. */
  const runUntil = async (worker: DeliveryWorker, end: number, leastStep = 1) => {
    const tried: number[] = [];
    while (now < end) {
      if ((await pollNow(worker)) > 0) tried.push(now);
      const due = (await queue().list({ webhookId: HOOK, state: "pending", limit: 1 }))[0]?.dueAt;
      now = Math.min(end, Math.max(due ? Date.parse(due) : end, now + leastStep));
    }
    return tried;
  };
  const answers =
    (status: number, headers = {}): AnswerRequest =>
    (response) =>
      response.writeHead(status, headers).end("no");

  it("is attempted eight times over 27 hours with the id, kind and body that were queued, then is a dead letter that can be resent", async () => {
    let status = 500;
    const receiver = await startReceiver({ answer: (response) => response.writeHead(status).end("no") });
    const worker = workerTo(receiver.port);
    await enqueue("event-1");
    const tried = await runUntil(worker, START + 3 * DAY);
    const waits = tried.map((at, n) => at - (tried[n - 1] ?? START));
    for (const [n, wait] of waits.entries())
      expect(Math.abs(wait - (TRY_DELAYS_MS[n] ?? 0))).toBeLessThan(1_000);
    expect(waits).toHaveLength(8);

    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"]))).toEqual(
      new Set(["event-1"]),
    );
    expect(new Set(receiver.received.map(({ body }) => body.toString()))).toEqual(new Set(['{"n":1}']));
    expect(receiver.received[0]?.headers["x-webhook-event"]).toBe("link.queued");
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(8);

    const id = deliveryId(HOOK, "event-1");
    const failed = await queue().get(id);
    expect(failed).toMatchObject({ state: "failed", tries: 8, dueAt: null });
    expect(failed?.log.map((attempt) => attempt.status)).toEqual(new Array(8).fill(500));
    expect(failed?.log[0]).toMatchObject({ answer: "no", error: { code: "status" }, at: isoOf(tried[0]) });
    const next = failed?.log.map(({ nextTryAt }) => nextTryAt && Date.parse(nextTryAt));
    expect(next).toEqual([...tried.slice(1), null]);

    status = 204;
    await queue().resend(id, clock().toISOString());
    await pollNow(worker);
    expect(await queue().get(id)).toMatchObject({ state: "delivered", tries: 1 });
    expect(receiver.received.at(-1)?.headers["webhook-id"]).toBe("event-1");
    expect(pausedFor).toEqual([]);
  });

  it("waits for as long as the receiver's Retry-After says", async () => {
    const receiver = await startReceiver({ answer: answers(429, { "retry-after": "600" }) });
    const worker = workerTo(receiver.port);
    await enqueue("event-1");
    const tried = await runUntil(worker, START + 20 * 60_000);
    expect(tried.map((at) => Math.round((at - START) / 1000))).toEqual([0, 600]);
  });

  it("pauses the webhook immediately when the receiver answers 410", async () => {
    const receiver = await startReceiver({ answer: answers(410) });
    const worker = workerTo(receiver.port);
    await enqueue("event-1", "event-2");
    await worker.startDue();
    await worker.settled();
    expect(pausedFor[0]).toMatch(/410 Gone/);
    now += DAY;
    expect(await pollNow(worker)).toBe(0);
    expect(receiver.received).toHaveLength(2);
  });

  it("pauses the webhook five days after its last success, not after its first failure", async () => {
    let succeeds = false;
    const receiver = await startReceiver({
      answer: (response) => response.writeHead(succeeds ? 200 : 503).end(),
    });
    const worker = workerTo(receiver.port);
    for (let hour = 0; hour < 110; hour += 5) {
      await enqueue(`early-${hour}`);
      await runUntil(worker, START + (hour + 5) * HOUR, HOUR);
    }
    expect(pausedFor).toEqual([]);
    succeeds = true;
    await enqueue("arrives");
    await pollNow(worker);
    succeeds = false;
    const lastSuccess = now;
    for (let hour = 0; hour < 130 && pausedFor.length === 0; hour += 5) {
      await enqueue(`late-${hour}`);
      await runUntil(worker, now + 5 * HOUR, HOUR);
    }
    expect(pausedFor[0]).toMatch(/five days/);
    expect(now - lastSuccess).toBeGreaterThanOrEqual(5 * DAY);
    expect(now - lastSuccess).toBeLessThan(5 * DAY + 10 * HOUR);
  }, 60_000);

  it("goes at once to a receiver whose webhook got another URL or was resumed while it rested", async () => {
    const [broken, mended] = [await startReceiver({ answer: answers(500) }), await startReceiver()];
    const worker = workerTo(broken.port);
    await enqueue(...Array.from({ length: 80 }, (_, n) => `event-${n}`));
    while ((await pollNow(worker)) > 0);
    const before = broken.received.length;
    now += 1;
    changed = { activeSince: clock().toISOString() };
    while ((await pollNow(worker)) > 0);
    expect(broken.received.length).toBeGreaterThan(before);
    now += 1;
    changed = { activeSince: clock().toISOString(), url: `http://127.0.0.1:${mended.port}/` };
    while ((await pollNow(worker)) > 0);
    expect(mended.received.length).toBeGreaterThan(40);
  });

  it("uses no attempts while the receiver rests, and tries it with one", async () => {
    const receiver = await startReceiver({ answer: answers(500) });
    const worker = workerTo(receiver.port);
    const ids = Array.from({ length: 40 }, (_, n) => `event-${n}`);
    await enqueue(...ids);
    while ((await pollNow(worker)) > 0);
    const before = receiver.received.length;
    expect(before).toBeLessThan(20);
    expect(worker.failing.resting()).toHaveLength(1);
    now += 4_000;
    expect(await pollNow(worker)).toBe(0);
    now += 2_000;
    expect(await pollNow(worker)).toBe(1);
    expect(receiver.received.length).toBe(before + 1);
    const untried = (await queue().list({ webhookId: HOOK, limit: 100 })).filter(({ tries }) => tries === 0);
    expect(untried.length).toBe(40 - receiver.received.length);
  });
});

function isoOf(ms: number | undefined): string {
  return new Date(ms ?? 0).toISOString();
}
