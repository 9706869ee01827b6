// A webhook without its key, as after a restore without the secrets, is paused with a reason until it gets a new key.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { addWebhook } from "../../../src/commands/webhooks/change-webhooks.ts";
import {
  forgetWebhookKeys,
  rotateWebhookKey,
  webhookSecret,
} from "../../../src/commands/webhooks/webhook-key.ts";
import { SecretDamaged } from "../../../src/stores/secrets/port.ts";
import { receiverUrl } from "../../../src/webhooks/receiver/receiver-url.ts";
import { operator } from "../../support/commands/command-deps.ts";
import { until } from "../../support/runtime/until.ts";
import { startReceiver } from "../../support/webhooks/webhook-receiver.ts";
import {
  loopbackSender,
  openWebhookStores,
  type WebhookStores,
  webhooksOn,
} from "../../support/webhooks/webhook-run.ts";

function depsOf({ backend }: WebhookStores) {
  const base = { baseUrl: "http://localhost:1", baseHost: "localhost" };
  return {
    ...runtimeDeps,
    ...backend,
    ...base,
    receiverUrl: (text: string) => receiverUrl(text, { allowPrivate: true }),
  };
}

describe("a webhook whose key is missing", () => {
  let stores: WebhookStores;
  let deps: ReturnType<typeof depsOf>;
  /** Offset of the worker's clock from the real one. */
  let laterMs: number;
  let stop: () => Promise<void>;
  let logged: { message: string; fields: object }[];

  beforeEach(async () => {
    stores = await openWebhookStores();
    deps = depsOf(stores);
    laterMs = 0;
    logged = [];
    const sender = loopbackSender();
    const stopping = new AbortController();
    const warn = (fields: object, message: string) => void logged.push({ message, fields });
    const log = { warn, error: warn };
    const webhooks = webhooksOn(stores.backend, {
      send: sender.send,
      log,
      clock: () => new Date(Date.now() + laterMs),
      settings: { pollMs: 50 },
    });
    const running = webhooks.run(stopping.signal);
    stop = async () => {
      stopping.abort();
      await running;
      sender.destroy();
      await stores.close();
    };
  });
  afterEach(() => stop());

  const eventsOf = async (accountId: string) => {
    const events = await deps.eventStore.read(`account-${accountId}`);
    return events.filter(({ type }) => type.startsWith("Webhook"));
  };
  const added = async () => {
    const receiver = await startReceiver();
    const accountId = await stores.account();
    const url = `http://127.0.0.1:${receiver.port}/`;
    const { webhookId } = await addWebhook(deps, operator, accountId, { url });
    return { receiver, accountId, webhookId };
  };
  const keyless = async () => {
    const webhook = await added();
    await forgetWebhookKeys(deps.secrets, webhook.webhookId);
    return webhook;
  };

  it("is paused once by the service with the reason, and logged once, for any number of pending deliveries", async () => {
    const { receiver, accountId, webhookId } = await keyless();
    await stores.clicks(accountId, 30);
    await until("the pause", async () => (await eventsOf(accountId)).length > 1);
    const reason = "its key is missing";
    expect((await eventsOf(accountId)).map(({ type, data }) => ({ type, data })).slice(1)).toEqual([
      {
        type: "WebhookPaused",
        data: { accountId, webhookId, by: "system", reason, cause: "key_missing", at: expect.any(String) },
      },
    ]);
    // Deferred deliveries are due by now; a delivered one of another webhook proves that the worker has polled.
    laterMs = 600_000;
    const other = await added();
    await stores.clicks(other.accountId, 1);
    await until("the other's delivery", () => other.receiver.received.length === 1);
    expect(logged).toEqual([{ message: "webhook paused", fields: { accountId, webhookId, reason } }]);
    expect(await eventsOf(accountId)).toHaveLength(2);
    expect(receiver.received).toEqual([]);
  });

  it("is paused likewise when its key can't be decrypted, which the log says of it by name", async () => {
    const [damaged, other] = [await added(), await added()];
    const file = new DatabaseSync(join(stores.dataDir, "secrets.db"), { timeout: 10_000 });
    file
      .prepare("UPDATE secrets SET value = (SELECT value FROM secrets WHERE name = ?) WHERE name = ?")
      .run(webhookSecret(other.webhookId), webhookSecret(damaged.webhookId));
    file.close();
    await stores.clicks(damaged.accountId, 1);
    await until("the pause", async () => (await eventsOf(damaged.accountId)).length > 1);
    expect(logged).toContainEqual({
      message: "the key of a webhook can't be decrypted",
      fields: { webhookId: damaged.webhookId, err: expect.any(SecretDamaged) },
    });
    expect((await eventsOf(damaged.accountId)).at(-1)?.data).toMatchObject({ cause: "key_missing" });
    expect(damaged.receiver.received).toEqual([]);
  });

  it("resumes by itself with a new key, which signs its pending deliveries", async () => {
    const { receiver, accountId, webhookId } = await keyless();
    const clicks = await stores.clicks(accountId, 3);
    await until("the pause", async () => (await eventsOf(accountId)).length > 1);
    const { key } = await rotateWebhookKey(deps, operator, accountId, webhookId);
    await until("three deliveries", () => receiver.received.length === 3);
    expect(receiver.received.map(({ headers }) => headers["webhook-id"]).sort()).toEqual(clicks.sort());
    for (const { headers } of receiver.received) expect(headers["x-api-key"]).toBe(key);
    expect((await eventsOf(accountId)).map(({ type }) => type)).toEqual([
      "WebhookAdded",
      "WebhookPaused",
      "WebhookKeyRotated",
      "WebhookResumed",
    ]);
    expect(logged).toHaveLength(1);
  });
});
