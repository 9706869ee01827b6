// Receivers that are down or slow lose no delivery and do not delay other webhooks; real time and real settings.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { loadAccount } from "../../../src/commands/account/account-stream.ts";
import { printCounts } from "../../support/runtime/print-counts.ts";
import { until } from "../../support/runtime/until.ts";
import { freePort } from "../../support/servers/free-port.ts";
import { webhookOf } from "../../support/webhooks/webhook-of.ts";
import { startReceiver } from "../../support/webhooks/webhook-receiver.ts";
import {
  loopbackSender,
  openWebhookStores,
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
    sender.destroy();
    await stores.close();
  });

  it("gets all of 100 clicks although it was down for the first of them, and is not paused", async () => {
    const account = await stores.account();
    const port = await freePort();
    const { webhookId } = await webhookOf(stores.backend, account, port);
    const seen: string[] = [];
    const server = createServer((request: IncomingMessage, response: ServerResponse) => {
      seen.push(String(request.headers["webhook-id"]));
      request.resume().on("end", () => response.end('{"received":true}'));
    });
    onTestFinished(() => void server.close());
    const inState = (state: "pending" | "delivered") =>
      stores.backend.deliveryQueue.list({ webhookId, state, limit: 200 });
    const ids = await stores.clicks(account, 5);
    await until("a try to fail", async () => (await inState("pending")).some(({ tries }) => tries > 0));
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    while (ids.length < 100) ids.push(...(await stores.clicks(account, 5)));

    const delivered = () => inState("delivered");
    await until("all deliveries", async () => (await delivered()).length === 100);
    expect(new Set(seen)).toEqual(new Set(ids));
    const retried = (await delivered()).filter(({ tries }) => tries > 1).length;
    printCounts("down for the first of 100 clicks", { retried });
    expect(retried).toBeGreaterThan(0);
    expect(await loadAccount(stores.backend.eventStore, account)).toMatchObject({
      webhooks: new Map([[webhookId, expect.objectContaining({ status: "active" })]]),
    });
    expect((await webhooks.status()).resting).toBe(0);
  }, 60_000);

  it("does not delay other webhooks when it does not answer", async () => {
    let ended = 0;
    const slow = await startReceiver({ answer: (response) => void response.on("close", () => ended++) });
    const quick = await startReceiver();
    const [slowAccount, quickAccount] = [await stores.account(), await stores.account()];
    await webhookOf(stores.backend, slowAccount, slow.port);
    const { webhookId } = await webhookOf(stores.backend, quickAccount, quick.port);
    await stores.clicks(slowAccount, 1_000);
    // As many as one webhook may have in flight.
    await until("all that it may hold", () => slow.received.length === 8);
    await stores.clicks(quickAccount, 200);
    await until("200 deliveries", () => quick.received.length === 200);
    // Each is given up after 15 seconds: nothing had to wait for that.
    expect([slow.received.length, ended]).toEqual([8, 0]);
    await until("200 acknowledgements", async () => {
      const delivered = { webhookId, state: "delivered" as const, limit: 300 };
      return (await stores.backend.deliveryQueue.list(delivered)).length === 200;
    });
  }, 60_000);

  it("gets unanswered deliveries again soon after the service was stopped and restarted", async () => {
    const account = await stores.account();
    const silent = await startReceiver({ answer: () => undefined });
    const { webhookId } = await webhookOf(stores.backend, account, silent.port);
    const [id] = await stores.clicks(account, 1);
    await until("the delivery", () => silent.received.length === 1);
    await stop();
    const [waiting] = await stores.backend.deliveryQueue.list({ webhookId, limit: 1 });
    expect(waiting).toMatchObject({ eventId: id, state: "pending", tries: 0 });
    expect(Date.parse(waiting?.dueAt ?? "")).toBeLessThanOrEqual(Date.now());
  });
});
