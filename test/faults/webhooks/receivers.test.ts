// Receivers that are down or slow lose no delivery and do not delay other webhooks; real time and real settings.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { loadAccount } from "../../../src/commands/account/account-stream.ts";
import { freePort } from "../../support/servers/free-port.ts";
import { webhookOf } from "../../support/webhooks/webhook-of.ts";
import { startReceiver } from "../../support/webhooks/webhook-receiver.ts";
import {
  loopbackSender,
  openWebhookStores,
  until,
  type WebhookStores,
  webhooksOn,
} from "../../support/webhooks/webhook-run.ts";

describe("a failing receiver", () => {
  let stores: WebhookStores;
  let sender: ReturnType<typeof loopbackSender>;
  let webhooks: ReturnType<typeof webhooksOn>;
  let stop: () => Promise<void>;
  beforeEach(async () => {
    stores = await openWebhookStores();
    sender = loopbackSender();
    const stopping = new AbortController();
    webhooks = webhooksOn(stores.backend, { send: sender.send, settings: { stopMs: 200 } });
    const running = webhooks.run(stopping.signal);
    stop = () => {
      stopping.abort();
      return running;
    };
  });
  afterEach(async () => {
    await stop();
    await sender.close();
    await stores.close();
  });

  it("gets all of 100 clicks although it was down for a second, and is not paused", async () => {
    const account = await stores.account();
    const port = await freePort();
    const { webhookId } = await webhookOf(stores.backend, account, port);
    const seen: string[] = [];
    const server = createServer((request: IncomingMessage, response: ServerResponse) => {
      seen.push(String(request.headers["webhook-id"]));
      request.resume().on("end", () => response.end('{"received":true}'));
    });
    onTestFinished(() => void server.close());
    const downAt = performance.now();
    const up = delay(1_000).then(() => new Promise<void>((done) => server.listen(port, "127.0.0.1", done)));
    const ids: string[] = [];
    while (ids.length < 100) {
      ids.push(...(await stores.clicks(account, 5)));
      await delay(75);
    }
    await up;

    const delivered = () => stores.backend.deliveryQueue.list({ webhookId, state: "delivered", limit: 200 });
    await until(async () => (await delivered()).length === 100);
    expect(new Set(seen)).toEqual(new Set(ids));
    const retried = (await delivered()).filter(({ tries }) => tries > 1).length;
    const allAfterMs = Math.round(performance.now() - downAt);
    process.stdout.write(
      `down for 1 s of 100 clicks: ${retried} retried, all delivered after ${allAfterMs} ms\n`,
    );
    expect(retried).toBeGreaterThan(0);
    expect(await loadAccount(stores.backend.eventStore, account)).toMatchObject({
      webhooks: new Map([[webhookId, expect.objectContaining({ status: "active" })]]),
    });
    expect((await webhooks.status()).openCircuits).toBe(0);
  }, 60_000);

  it("does not delay other webhooks when it takes 14 seconds for each answer", async () => {
    const slow = await startReceiver({ answer: (response) => void setTimeout(() => response.end(), 14_000) });
    const quick = await startReceiver();
    const [slowAccount, quickAccount] = [await stores.account(), await stores.account()];
    await webhookOf(stores.backend, slowAccount, slow.port);
    const { webhookId } = await webhookOf(stores.backend, quickAccount, quick.port);
    await stores.clicks(slowAccount, 1_000);
    await until(() => slow.received.length > 0);
    const startedAt = performance.now();
    await stores.clicks(quickAccount, 200);
    await until(() => quick.received.length === 200);
    const tookMs = performance.now() - startedAt;
    process.stdout.write(`200 deliveries beside a receiver that takes 14 s: ${Math.round(tookMs)} ms\n`);
    expect(tookMs).toBeLessThan(13_000);
    await until(async () => {
      const delivered = { webhookId, state: "delivered" as const, limit: 300 };
      return (await stores.backend.deliveryQueue.list(delivered)).length === 200;
    });
    // The limit of deliveries in flight per webhook, which is reached.
    expect(slow.received).toHaveLength(8);
  }, 60_000);

  it("gets unanswered deliveries again soon after the service was stopped and restarted", async () => {
    const account = await stores.account();
    const silent = await startReceiver({ answer: () => undefined });
    const { webhookId } = await webhookOf(stores.backend, account, silent.port);
    const [id] = await stores.clicks(account, 1);
    await until(() => silent.received.length === 1);
    await stop();
    const [waiting] = await stores.backend.deliveryQueue.list({ webhookId, limit: 1 });
    expect(waiting).toMatchObject({ eventId: id, state: "pending", tries: 0 });
    expect(Date.parse(waiting?.dueAt ?? "")).toBeLessThanOrEqual(Date.now());
  });
});
