// Webhook commands on real SQLite stores: receiver URLs, limits, keys, races.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { changeTier } from "../../../src/commands/account/tier.ts";
import {
  forgetWebhookKeys,
  readWebhookKeys,
  rotateWebhookKey,
} from "../../../src/commands/webhooks/webhook-key.ts";
import {
  addWebhook,
  changeWebhook,
  pauseWebhook,
  removeWebhook,
  resumeWebhook,
} from "../../../src/commands/webhooks/webhooks.ts";
import type { Tier } from "../../../src/events/vocabulary.ts";
import type { Secrets } from "../../../src/secrets/port.ts";
import { receiverUrl } from "../../../src/webhooks/receiver/receiver-url.ts";
import { openCommandDeps, operator } from "../../support/commands/command-deps.ts";
import { storeWith } from "../../support/runtime/store-with.ts";

const opened = async (allowPrivate = false) => {
  const { deps, close } = await openCommandDeps();
  const accepted = (text: string) => receiverUrl(text, { allowPrivate });
  return { deps: { ...deps, receiverUrl: accepted }, close };
};
let fixture: Awaited<ReturnType<typeof opened>>;
let deps: (typeof fixture)["deps"];
beforeEach(async () => {
  fixture = await opened();
  deps = fixture.deps;
});
afterEach(() => fixture.close());

const URL_OF_RECEIVER = "https://hooks.example.com/linkledger";
const KEY = /^whk_[A-Za-z0-9]{32}$/;
const user = { requestId: "test-request", actor: { type: "account", id: "someone" } } as const;
const system = { requestId: "test-request", actor: { type: "system", id: "webhooks" } } as const;

const account = async (tier: Tier = "developer") =>
  (await openAccount(deps, operator, { email: `${deps.newId()}@example.com`, tier })).accountId;
const added = (accountId: string, url = URL_OF_RECEIVER) => addWebhook(deps, user, accountId, { url });
const keysOf = (webhookId: string, now = deps.clock()) => readWebhookKeys(deps.secrets, webhookId, now);
const typesOf = async (accountId: string) =>
  (await deps.eventStore.read(`account-${accountId}`)).map((event) => event.type);

/** The real secrets with some operations replaced. */
function secretsWith(changed: Partial<Secrets>): Secrets {
  return storeWith(deps.secrets, changed);
}

describe("adding a webhook", () => {
  it("answers a key of whk_ and 32 characters, which is in no event", async () => {
    const accountId = await account();
    const { webhookId, key, kinds } = await added(accountId);
    expect(key).toMatch(KEY);
    expect(kinds).toEqual(["click", "qr_scan"]);
    expect(await keysOf(webhookId)).toEqual({ key });
    const events = await deps.eventStore.read(`account-${accountId}`);
    expect(JSON.stringify(events)).not.toContain(key.slice(4));
    expect(events.at(-1)?.data).toMatchObject({ url: URL_OF_RECEIVER, keyHint: key.slice(-4) });
  });

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
      secrets: secretsWith({
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

  it("needs the Developer tier", async () => {
    await expect(added(await account("free"))).rejects.toMatchObject({ code: "tier_required" });
  });

  it.each([
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
  ])("refuses %s", async (url, why) => {
    const accountId = await account();
    const refused = added(accountId, url);
    await expect(refused).rejects.toMatchObject({ code: "invalid_webhook" });
    await expect(refused).rejects.toThrow(why);
    expect(await typesOf(accountId)).toEqual(["AccountOpened"]);
  });

  it.each(["http://127.0.0.1:8080/hook", "http://localhost:9000/", "http://192.168.1.5/"])(
    "takes %s when the operator allows private receivers",
    async (url) => {
      const own = await opened(true);
      try {
        const { accountId } = await openAccount(own.deps, operator, { email: "a@b.c", tier: "developer" });
        expect(await addWebhook(own.deps, user, accountId, { url })).toMatchObject({ url });
      } finally {
        await own.close();
      }
    },
  );

  it("refuses the service itself", async () => {
    const accountId = await account();
    const loop = (baseUrl: string, url: string) =>
      addWebhook(
        {
          ...deps,
          baseUrl,
          baseHost: new URL(baseUrl).hostname,
          receiverUrl: (text) => receiverUrl(text, { allowPrivate: true }),
        },
        user,
        accountId,
        { url },
      );
    await expect(loop("https://lnk.example", "https://lnk.example/abc")).rejects.toThrow(/this service/);
    await expect(loop("http://localhost:3000", "http://127.0.0.1:3000/")).rejects.toThrow(/this service/);
    await loop("http://localhost:3000", "http://127.0.0.1:3001/");
  });

  it("refuses more than 2,048 characters", async () => {
    const url = `https://hooks.example.com/${"é".repeat(400)}`;
    await expect(added(await account(), url)).rejects.toMatchObject({ code: "invalid_webhook" });
  });

  it("keeps the query and drops the fragment", async () => {
    const { url } = await added(await account(), " https://Hooks.example.com/a?b=c#d ");
    expect(url).toBe("https://hooks.example.com/a?b=c");
  });

  it("refuses no kinds and unknown kinds", async () => {
    const accountId = await account();
    const withKinds = (...kinds: string[]) =>
      addWebhook(deps, user, accountId, { url: URL_OF_RECEIVER, kinds });
    await expect(withKinds()).rejects.toMatchObject({ code: "invalid_webhook" });
    await expect(withKinds("click", "sale")).rejects.toThrow(/click, preview, qr_scan/);
    expect((await withKinds("preview", "click")).kinds).toEqual(["click", "preview"]);
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
    expect(await keysOf(webhookId)).toEqual({ key });
    await expect(change({ url: "https://10.0.0.1/" })).rejects.toMatchObject({ code: "invalid_webhook" });
  });

  it("cuts a long label or reason to text that every JSON parser reads", async () => {
    const accountId = await account();
    const { webhookId } = await added(accountId);
    const long = (length: number) => `${"x".repeat(length - 1)}😀`;
    await changeWebhook(deps, user, accountId, webhookId, { label: long(100) });
    await pauseWebhook(deps, user, accountId, webhookId, { reason: long(200) });
    const log = JSON.stringify(await deps.eventStore.read(`account-${accountId}`));
    expect(log.match(/x+\uFFFD/g)?.map(({ length }) => length)).toEqual([100, 200]);
    expect(log).not.toContain("\\ud83d");
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

  it("needs the Developer tier, and a webhook of this account", async () => {
    const [ann, bob] = [await account(), await account()];
    const { webhookId } = await added(ann);
    await expect(changeWebhook(deps, user, bob, webhookId, { label: "x" })).rejects.toMatchObject({
      code: "webhook_not_found",
    });
    await changeTier(deps, operator, ann, "free");
    await expect(changeWebhook(deps, user, ann, webhookId, { label: "x" })).rejects.toMatchObject({
      code: "tier_required",
    });
  });
});

describe("pausing and resuming a webhook", () => {
  it("says in whose name", async () => {
    const accountId = await account();
    const { webhookId } = await added(accountId);
    const last = async () => (await deps.eventStore.read(`account-${accountId}`)).at(-1);
    await pauseWebhook(deps, system, accountId, webhookId, { reason: "the endpoint answered 410 Gone" });
    expect(await last()).toMatchObject({
      type: "WebhookPaused",
      data: { by: "system", reason: "the endpoint answered 410 Gone" },
    });
    await resumeWebhook(deps, user, accountId, webhookId);
    await pauseWebhook(deps, user, accountId, webhookId, { reason: " " });
    expect((await last())?.data).toEqual({ accountId, webhookId, by: "user", at: expect.any(String) });
    await pauseWebhook(deps, operator, accountId, webhookId);
    expect(await last()).toMatchObject({ data: { by: "operator" } });
    await expect(resumeWebhook(deps, user, accountId, webhookId)).rejects.toMatchObject({
      code: "webhook_held",
    });
    await resumeWebhook(deps, operator, accountId, webhookId);
    expect(await last()).toMatchObject({ type: "WebhookResumed" });
  });
});

describe("rotating a webhook's key", () => {
  it("keeps the old one for 24 hours more", async () => {
    const accountId = await account();
    const { webhookId, key } = await added(accountId);
    const clock = () => new Date("2026-05-01T12:00:00.000Z");
    const rotated = await rotateWebhookKey({ ...deps, clock }, user, accountId, webhookId);
    expect(rotated).toMatchObject({
      key: expect.stringMatching(KEY),
      previousUntil: "2026-05-02T12:00:00.000Z",
    });
    expect(rotated.key).not.toBe(key);
    const previous = { key, until: "2026-05-02T12:00:00.000Z" };
    expect(await keysOf(webhookId)).toEqual({ key: rotated.key, previous });
    const events = await deps.eventStore.read(`account-${accountId}`);
    expect(JSON.stringify(events)).not.toContain(rotated.key.slice(4));
    expect(events.at(-1)?.data).toMatchObject({ keyHint: rotated.key.slice(-4) });
    const again = await rotateWebhookKey(deps, user, accountId, webhookId);
    expect(await keysOf(webhookId)).toMatchObject({ key: again.key, previous: { key: rotated.key } });
  });

  it("gives one to a webhook that has lost its own, with none before it to sign with", async () => {
    const accountId = await account();
    const { webhookId } = await added(accountId);
    await forgetWebhookKeys(deps.secrets, webhookId);
    const clock = () => new Date("2026-05-01T12:00:00.000Z");
    const rotated = await rotateWebhookKey({ ...deps, clock }, user, accountId, webhookId);
    expect(rotated.previousUntil).toBe("2026-05-01T12:00:00.000Z");
    expect(await keysOf(webhookId)).toEqual({ key: rotated.key });
  });

  it("leaves none where the webhook was removed", async () => {
    const accountId = await account();
    const { webhookId } = await added(accountId);
    await removeWebhook(deps, user, accountId, webhookId);
    await expect(rotateWebhookKey(deps, user, accountId, webhookId)).rejects.toMatchObject({
      code: "webhook_not_found",
    });
    expect(await keysOf(webhookId)).toBeUndefined();
  });

  it("is not done for another account, and leaves the owner's key in use", async () => {
    const { webhookId, key } = await added(await account());
    const stranger = await account();
    await expect(rotateWebhookKey(deps, user, stranger, webhookId)).rejects.toMatchObject({
      code: "webhook_not_found",
    });
    expect(await keysOf(webhookId)).toEqual({ key });
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
    const secrets = secretsWith({
      putIfPresent: () => Promise.reject(new Error("cut off")),
    });
    await expect(rotateWebhookKey({ ...deps, secrets }, user, accountId, webhookId)).rejects.toThrow(
      "cut off",
    );
    expect(await keysOf(webhookId)).toEqual({ key });
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

  it("destroys its key and makes room for another", async () => {
    const accountId = await account();
    const five = [];
    while (five.length < 5) five.push(await added(accountId));
    await expect(added(accountId)).rejects.toThrow("The webhook limit of 5 is reached");
    const webhookId = five[2]?.webhookId ?? "";
    await removeWebhook(deps, user, accountId, webhookId);
    expect(await keysOf(webhookId)).toBeUndefined();
    await added(accountId);
    await expect(rotateWebhookKey(deps, user, accountId, webhookId)).rejects.toMatchObject({
      code: "webhook_not_found",
    });
    expect(await keysOf(webhookId)).toBeUndefined();
  });

  it("that a crash cut off before the key was destroyed is completed by removing again", async () => {
    const accountId = await account();
    const { webhookId } = await added(accountId);
    const secrets = secretsWith({
      delete: () => Promise.reject(new Error("cut off")),
    });
    await expect(removeWebhook({ ...deps, secrets }, user, accountId, webhookId)).rejects.toThrow("cut off");
    await removeWebhook(deps, user, accountId, webhookId);
    expect(await keysOf(webhookId)).toBeUndefined();
    expect((await typesOf(accountId)).filter((type) => type === "WebhookRemoved")).toHaveLength(1);
  });
});
