// Webhook commands on real SQLite stores: receiver URLs, limits, keys, races.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import {
  addWebhook,
  changeWebhook,
  pauseWebhook,
  removeWebhook,
} from "../../../src/commands/webhooks/change-webhooks.ts";
import { readWebhookKeys, rotateWebhookKey } from "../../../src/commands/webhooks/webhook-key.ts";
import type { Tier } from "../../../src/events/vocabulary.ts";
import { receiverUrl } from "../../../src/webhooks/receiver/receiver-url.ts";
import { openCommandDeps, operator } from "../../support/commands/command-deps.ts";
import { storeWith } from "../../support/runtime/store-with.ts";

const accepting = (allowPrivate: boolean) => ({
  receiverUrl: (text: string) => receiverUrl(text, { allowPrivate }),
});
let fixture: Awaited<ReturnType<typeof openCommandDeps>>;
let deps: (typeof fixture)["deps"] & ReturnType<typeof accepting>;
beforeAll(async () => {
  fixture = await openCommandDeps();
  deps = { ...fixture.deps, ...accepting(false) };
});
afterAll(() => fixture.close());

const URL_OF_RECEIVER = "https://hooks.example.com/linkledger";
const KEY = /^whk_[A-Za-z0-9]{32}$/;
const user = { requestId: "test-request", actor: { type: "person", id: "someone" } } as const;

const account = async (tier: Tier = "developer") =>
  (await openAccount(deps, operator, { email: `${deps.newId()}@example.com`, tier })).accountId;
const added = (accountId: string, url = URL_OF_RECEIVER) => addWebhook(deps, user, accountId, { url });
const SEED = /^[A-Za-z0-9]{32}$/;
const keysOf = (webhookId: string, now = deps.clock()) => readWebhookKeys(deps.secrets, webhookId, now);
const typesOf = async (accountId: string) =>
  (await deps.eventStore.read(`account-${accountId}`)).map((event) => event.type);

describe("adding a webhook", () => {
  it("keeps its key where the outcome of the append is unknown, as the webhook may be there", async () => {
    const accountId = await account();
    const eventStore = storeWith(deps.eventStore, {
      append: async (...given) => {
        await deps.eventStore.append(...given);
        throw new Error("the answer was lost");
      },
    });
    const request = { url: URL_OF_RECEIVER };
    await expect(addWebhook({ ...deps, eventStore }, user, accountId, request)).rejects.toThrow("lost");
    const { data } = (await deps.eventStore.read(`account-${accountId}`)).at(-1) ?? {};
    const { webhookId, keyHint } = data as { webhookId: string; keyHint: string };
    expect((await keysOf(webhookId))?.key.slice(-4)).toBe(keyHint);
  });

  it("of 20 concurrent ones succeeds exactly five times, and keeps no key of the others", async () => {
    const accountId = await account();
    const kept: string[] = [];
    const watched = {
      ...deps,
      secrets: storeWith(deps.secrets, {
        put: async (name, record) => {
          kept.push(name);
          await deps.secrets.put(name, record);
        },
      }),
    };
    const tries = Array.from({ length: 20 }, () =>
      addWebhook(watched, user, accountId, { url: URL_OF_RECEIVER }),
    );
    const settled = await Promise.allSettled(tries);
    const refused = settled.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    expect(refused).toHaveLength(15);
    for (const error of refused) expect(error).toMatchObject({ code: "webhook_limit_reached" });
    expect((await typesOf(accountId)).filter((type) => type === "WebhookAdded")).toHaveLength(5);
    const values = await Promise.all(kept.map((name) => deps.secrets.get(name, deps.clock())));
    expect(kept).toHaveLength(20);
    expect(values.filter((value) => value !== undefined)).toHaveLength(5);
  });

  it("is refused for an address where nothing is delivered to, and says why", async () => {
    const accountId = await account();
    for (const [url, why] of [
      ["http://hooks.example.com/", /https/],
      ["hooks.example.com", /valid/],
      ["ftp://hooks.example.com/", /https/],
      ["javascript:alert(1)", /https/],
      ["https://user:secret@hooks.example.com/", /user name or password/],
      ["https://hooks.example.com:22/", /[Pp]ort 22/],
      ["https://127.0.0.1/", /loopback/],
      ["https://2130706433/", /loopback/],
      ["https://0x7f.1:8443/", /loopback/],
      ["https://[::1]/", /loopback/],
      ["https://10.1.2.3/", /private/],
      ["https://169.254.169.254/latest/meta-data", /metadata/],
      ["https://localhost/", /this machine/],
    ] as const) {
      const refused = added(accountId, url);
      await expect(refused).rejects.toMatchObject({ code: "invalid_webhook" });
      await expect(refused).rejects.toThrow(why);
    }
    expect(await typesOf(accountId)).toEqual(["AccountOpened"]);
  });

  it("refuses the service itself", async () => {
    const accountId = await account();
    const loop = (baseUrl: string, url: string) => {
      const own = { ...deps, ...accepting(true), baseUrl, baseHost: new URL(baseUrl).hostname };
      return addWebhook(own, user, accountId, { url });
    };
    await expect(loop("https://lnk.example", "https://lnk.example/abc")).rejects.toThrow(/this service/);
    await expect(loop("http://localhost:3000", "http://127.0.0.1:3000/")).rejects.toThrow(/this service/);
    await loop("http://localhost:3000", "http://127.0.0.1:3001/");
  });
});

describe("changing a webhook", () => {
  it("keeps what is not given, and its key", async () => {
    const accountId = await account();
    const { webhookId, key } = await added(accountId);
    const change = (request: Parameters<typeof changeWebhook>[4]) =>
      changeWebhook(deps, user, accountId, webhookId, request);
    expect(await change({ label: " billing " })).toMatchObject({ url: URL_OF_RECEIVER, label: "billing" });
    expect(await change({ url: "https://other.example/", kinds: ["preview"] })).toMatchObject({
      url: "https://other.example/",
      kinds: ["preview"],
      label: "billing",
    });
    expect(await keysOf(webhookId)).toEqual({ key, seed: expect.stringMatching(SEED) });
    await expect(change({ url: "https://10.0.0.1/" })).rejects.toMatchObject({ code: "invalid_webhook" });
  });

  it("chooses what it is told of, and of which links, and keeps what is not chosen anew", async () => {
    const accountId = await account();
    const { webhookId, ...before } = await added(accountId);
    expect(before).toMatchObject({ events: ["link.clicked"], domains: [], tags: [] });
    const change = (request: Parameters<typeof changeWebhook>[4]) =>
      changeWebhook(deps, user, accountId, webhookId, request);
    const chosen = {
      ...{ events: ["link.deleted", "link.clicked", "link.deleted"] },
      ...{ domains: [deps.baseHost.toUpperCase()], tags: [" sale ", "news", ""] },
    };
    const changed = {
      events: ["link.clicked", "link.deleted"],
      ...{ domains: [deps.baseHost], tags: ["news", "sale"], kinds: ["click", "qr_scan"] },
    };
    expect(await change(chosen)).toMatchObject(changed);
    expect(await change({ label: "billing" })).toMatchObject({ ...changed, label: "billing" });
    const types = await typesOf(accountId);
    expect(await change(chosen)).toMatchObject(changed);
    expect(await typesOf(accountId)).toEqual(types);
    expect(await change({ domains: [], tags: [] })).toMatchObject({ domains: [], tags: [] });
  });

  it("refuses events that there are not, and domains of others", async () => {
    const accountId = await account();
    const { webhookId } = await added(accountId);
    const types = await typesOf(accountId);
    for (const [request, why] of [
      [{ events: ["link.sold"] }, /events of a webhook are one or more of link.clicked, link.created/],
      [{ events: [] }, /one or more of/],
      [{ domains: ["elsewhere.example"] }, /elsewhere.example is no domain of this account/],
      [{ tags: Array.from({ length: 21 }, (_, n) => `t${n}`) }, /at most 20 tags/],
    ] as const) {
      const refused = changeWebhook(deps, user, accountId, webhookId, request);
      await expect(refused).rejects.toMatchObject({ code: "invalid_webhook" });
      await expect(refused).rejects.toThrow(why);
    }
    expect(await typesOf(accountId)).toEqual(types);
  });

  it("has no control characters and no turned text in its label, nor in the reason of a pause", async () => {
    const accountId = await account();
    const { webhookId } = await added(accountId);
    await changeWebhook(deps, user, accountId, webhookId, { label: "bill\u001b[2Jing\u202e" });
    await pauseWebhook(deps, user, accountId, webhookId, { reason: "too\nmany\u2066" });
    const [changed, paused] = (await deps.eventStore.read(`account-${accountId}`)).slice(-2);
    expect(changed?.data).toMatchObject({ label: "bill [2Jing" });
    expect(paused?.data).toMatchObject({ reason: "too many" });
  });
});

describe("rotating a webhook's key", () => {
  it("keeps the old one for 24 hours more", async () => {
    const accountId = await account();
    const { webhookId, key, publicKey } = await added(accountId);
    const clock = () => new Date("2026-05-01T12:00:00.000Z");
    const rotated = await rotateWebhookKey({ ...deps, clock }, user, accountId, webhookId);
    expect(rotated).toMatchObject({
      key: expect.stringMatching(KEY),
      previousUntil: "2026-05-02T12:00:00.000Z",
    });
    expect(rotated.key).not.toBe(key);
    const previous = { key, until: "2026-05-02T12:00:00.000Z" };
    expect(await keysOf(webhookId)).toMatchObject({ key: rotated.key, previous });
    expect(rotated.publicKey).not.toBe(publicKey);
    const events = await deps.eventStore.read(`account-${accountId}`);
    expect(JSON.stringify(events)).not.toContain(rotated.key.slice(4));
    expect(events.at(-1)?.data).toMatchObject({ keyHint: rotated.key.slice(-4) });
    const again = await rotateWebhookKey(deps, user, accountId, webhookId);
    expect(await keysOf(webhookId)).toMatchObject({ key: again.key, previous: { key: rotated.key } });
  });

  it("twice concurrently leaves the key that one of them was shown", async () => {
    const accountId = await account();
    const { webhookId } = await added(accountId);
    const tries = Array.from({ length: 5 }, () => rotateWebhookKey(deps, user, accountId, webhookId));
    const settled = await Promise.allSettled(tries);
    const shown = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value.key] : []));
    const refused = settled.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    expect(refused.length).toBeGreaterThan(0);
    for (const error of refused) expect(error).toMatchObject({ code: "rotation_under_way" });
    expect((await keysOf(webhookId))?.key).toBe(shown.at(-1));
    await rotateWebhookKey(deps, user, accountId, webhookId);
  });

  it("that is cut off before its key is kept leaves the old one in use", async () => {
    const accountId = await account();
    const { webhookId, key } = await added(accountId);
    const secrets = storeWith(deps.secrets, {
      putIfPresent: () => Promise.reject(new Error("cut off")),
    });
    await expect(rotateWebhookKey({ ...deps, secrets }, user, accountId, webhookId)).rejects.toThrow(
      "cut off",
    );
    expect(await keysOf(webhookId)).toEqual({ key, seed: expect.stringMatching(SEED) });
    const again = await rotateWebhookKey(deps, user, accountId, webhookId);
    expect(await keysOf(webhookId)).toMatchObject({ key: again.key, previous: { key } });
  });
});

describe("removing a webhook", () => {
  it("while its key is rotated leaves no key", async () => {
    const accountId = await account();
    const { webhookId } = await added(accountId);
    // The removal happens between the rotation's event and the write of its key.
    const removed = async (key: string) => {
      if (key === `webhook:${webhookId}`) await removeWebhook(deps, user, accountId, webhookId);
    };
    const secrets = storeWith(deps.secrets, {
      put: async (key, record) => {
        await removed(key);
        await deps.secrets.put(key, record);
      },
      putIfPresent: async (key, record, now) => {
        await removed(key);
        return await deps.secrets.putIfPresent(key, record, now);
      },
    });
    const rotation = rotateWebhookKey({ ...deps, secrets }, user, accountId, webhookId);
    await expect(rotation).rejects.toMatchObject({ code: "webhook_not_found" });
    expect(await typesOf(accountId)).toEqual(expect.arrayContaining(["WebhookKeyRotated", "WebhookRemoved"]));
    expect(await keysOf(webhookId)).toBeUndefined();
  });

  it("that a crash cut off before the key was destroyed is completed by removing again", async () => {
    const accountId = await account();
    const { webhookId } = await added(accountId);
    const secrets = storeWith(deps.secrets, {
      delete: () => Promise.reject(new Error("cut off")),
    });
    await expect(removeWebhook({ ...deps, secrets }, user, accountId, webhookId)).rejects.toThrow("cut off");
    await removeWebhook(deps, user, accountId, webhookId);
    expect(await keysOf(webhookId)).toBeUndefined();
    expect((await typesOf(accountId)).filter((type) => type === "WebhookRemoved")).toHaveLength(1);
  });
});
