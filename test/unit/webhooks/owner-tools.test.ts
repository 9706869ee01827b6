// The owner's tools for a webhook: test, delivery log, resend, recover and replay.
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { changeTier } from "../../../src/commands/account/tier.ts";
import { addWebhook, removeWebhook } from "../../../src/commands/webhooks/change-webhooks.ts";
import { keysInUse, rotateWebhookKey } from "../../../src/commands/webhooks/webhook-key.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import { IMPORT_WRITER } from "../../../src/events/streams.ts";
import type { WebhookDocument } from "../../../src/projections/definitions/webhooks.ts";
import { listWebhooks } from "../../../src/queries/webhooks.ts";
import { deliverySender } from "../../../src/webhooks/delivery/send-delivery.ts";
import {
  listDeliveries,
  recoverSince,
  resendDelivery,
  showDelivery,
} from "../../../src/webhooks/owner-tools/deliveries.ts";
import { replayFrom } from "../../../src/webhooks/owner-tools/replay-webhook.ts";
import { restingReceiver, restingReceivers } from "../../../src/webhooks/owner-tools/resting-receiver.ts";
import { testWebhook } from "../../../src/webhooks/owner-tools/test-webhook.ts";
import { deliveryId } from "../../../src/webhooks/queue/queue.ts";
import { receiverUrl } from "../../../src/webhooks/receiver/receiver-url.ts";
import { receiverResolver } from "../../../src/webhooks/receiver/resolve-receiver.ts";
import { openCommandDeps, operator } from "../../support/commands/command-deps.ts";
import { linkClicked } from "../../support/event-store/stored-events.ts";
import { signingSecret } from "../../support/webhooks/signing-secret.ts";
import { startReceiver } from "../../support/webhooks/webhook-receiver.ts";

const reach = { allowPrivate: true };
const opened = async () => {
  const { deps, foldStore, catchUp, close } = await openCommandDeps();
  const sender = deliverySender({
    ...reach,
    resolve: receiverResolver(["127.0.0.1"]),
    now: () => Date.now(),
  });
  const accepted = (text: string) => receiverUrl(text, reach);
  const end = async () => {
    await sender.destroy();
    await close();
  };
  return { deps: { ...deps, sender, receiverUrl: accepted }, foldStore, catchUp, close: end };
};
let fixture: Awaited<ReturnType<typeof opened>>;
let deps: (typeof fixture)["deps"];
beforeEach(async () => {
  fixture = await opened();
  deps = fixture.deps;
});
afterEach(() => fixture.close());

async function webhook(url = "https://hooks.example.com/") {
  const email = `${deps.newId()}@example.com`;
  const { accountId } = await openAccount(deps, operator, { email, tier: "developer" });
  const { webhookId, key } = await addWebhook(deps, operator, accountId, { url });
  await fixture.catchUp();
  return { accountId, webhookId, key };
}

const at = (minute: number) => new Date(Date.UTC(2026, 4, 1, 12, minute)).toISOString();

/** `count` deliveries, a minute apart, from 12:00 on. */
async function queued(webhookId: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const one = { webhookId, eventId: `event-${n}`, event: "link.clicked", body: `{"n":${n}}` };
    await deps.deliveryQueue.enqueue([one], at(n));
    ids.push(deliveryId(webhookId, one.eventId));
  }
  return ids;
}

/** The delivery that has been due longest is attempted at 12:30 and fails for good. */
async function failed(webhookId: string, minute = 30): Promise<string> {
  const claim = { webhookId, token: deps.newId(), now: at(59), until: at(59), limit: 1 };
  const [claimed] = await deps.deliveryQueue.claim(claim);
  if (!claimed) throw new Error("nothing was due");
  const error = { code: "status", message: "Answered 500" };
  const attempt = { at: at(minute), durationMs: 12, status: 500, error, answer: "oh no", nextTryAt: null };
  await deps.deliveryQueue.settle(claimed, attempt, { state: "failed" });
  return claimed.id;
}

describe("the test tool", () => {
  it("sends a signed sample of link.clicked and shows request and answer", async () => {
    const { port, received } = await startReceiver();
    const { webhookId, key } = await webhook(`http://127.0.0.1:${port}/hook?from=here`);
    const { request, answer } = await testWebhook(deps, webhookId);
    expect(answer).toEqual({
      at: expect.any(String),
      durationMs: expect.any(Number),
      status: 200,
      error: null,
      answer: '{"received":true}',
    });
    expect(received).toHaveLength(1);
    const [sent] = received;
    expect(sent).toMatchObject({ method: "POST", path: "/hook?from=here" });
    expect(sent?.headers["x-api-key"]).toBe(key);
    expect(sent?.headers["webhook-id"]).toMatch(/^test_/);
    const headers = sent?.headers as Record<string, string>;
    const verified = new Webhook(signingSecret(key)).verify(sent?.body ?? "", headers);
    expect(verified).toMatchObject({
      event: "link.clicked",
      data: { click_data: { device_type: "desktop" } },
    });
    expect(request).toMatchObject({ method: "POST", url: `http://127.0.0.1:${port}/hook?from=here` });
    expect(request.body).toBe(sent?.body.toString());
    expect(JSON.stringify(request)).not.toContain(key);
    expect(await listDeliveries(deps, webhookId, { limit: 50 })).toEqual({
      deliveries: [],
      next_cursor: null,
    });
  });

  it("finds no webhook of another account, and none that was removed", async () => {
    const [ann, bob] = [await webhook(), await webhook()];
    await expect(testWebhook(deps, ann.webhookId, bob.accountId)).rejects.toMatchObject({
      code: "not_found",
    });
    await removeWebhook(deps, operator, ann.accountId, ann.webhookId);
    await fixture.catchUp();
    await expect(testWebhook(deps, ann.webhookId)).rejects.toMatchObject({ code: "not_found" });
    expect(await listWebhooks(deps, ann.accountId)).toEqual([]);
  });

  it("signs with the previous key too, for 24 hours after a rotation", async () => {
    const { port, received } = await startReceiver();
    const { accountId, webhookId, key } = await webhook(`http://127.0.0.1:${port}/`);
    const rotated = await rotateWebhookKey(deps, operator, accountId, webhookId);
    await testWebhook(deps, webhookId);
    const [sent] = received;
    expect(sent?.headers["x-api-key"]).toBe(rotated.key);
    const headers = sent?.headers as Record<string, string>;
    for (const known of [key, rotated.key])
      new Webhook(signingSecret(known)).verify(sent?.body ?? "", headers);
    const { secrets } = deps;
    const justBefore = new Date(Date.parse(rotated.previousUntil) - 1);
    const inUse = async (now: Date) => (await keysInUse(secrets, webhookId, now))?.map((one) => one.key);
    expect(await inUse(justBefore)).toEqual([rotated.key, key]);
    const over = new Date(rotated.previousUntil);
    expect(await inUse(over)).toEqual([rotated.key]);
    const again = await rotateWebhookKey(deps, operator, accountId, webhookId);
    expect(await inUse(justBefore)).toEqual([again.key, rotated.key]);
  });
});

describe("a resting receiver", () => {
  it("says since when it has failed, and until about when it rests; not after a change or a success", async () => {
    const { accountId, webhookId } = await webhook();
    const shown = async () => (await listWebhooks(deps, accountId))[0] as WebhookDocument;
    const begun = Date.parse((await shown()).changedAt) + 1;
    const second = (seconds: number) => new Date(begun + seconds * 1_000);
    const restAt = async (seconds: number) =>
      restingReceiver({ ...deps, clock: () => second(seconds) }, await shown());
    const fail = (seconds: number) =>
      deps.deliveryQueue.noteFailure(webhookId, second(seconds).toISOString(), second(0).toISOString());
    for (let n = 0; n < 9; n++) await fail(n);
    expect(await restAt(9)).toBeUndefined();
    await fail(60);
    const rest = { since: second(0).toISOString(), until: second(120).toISOString() };
    expect(await restAt(61)).toEqual(rest);
    expect(await restAt(121)).toBeUndefined();
    const other = await webhook();
    const clock = () => second(61);
    for (const account of [accountId, undefined])
      expect(await restingReceivers({ ...deps, clock }, account)).toEqual([
        { webhook: await shown(), ...rest },
      ]);
    expect(await restingReceivers({ ...deps, clock }, other.accountId)).toEqual([]);
    await deps.deliveryQueue.endStreak(webhookId);
    expect(await restAt(61)).toBeUndefined();
    for (let n = 0; n < 10; n++) await fail(-60 + n);
    expect(await restAt(-40)).toBeUndefined();
  });
});

describe("the delivery log", () => {
  it("is visible to its owner only", async () => {
    const [ann, bob] = [await webhook(), await webhook()];
    const [id = ""] = await queued(ann.webhookId, 1);
    await expect(listDeliveries(deps, ann.webhookId, { limit: 50 }, bob.accountId)).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(showDelivery(deps, id, bob.accountId)).rejects.toMatchObject({ code: "not_found" });
    await expect(resendDelivery(deps, id, bob.accountId)).rejects.toMatchObject({ code: "not_found" });
    await expect(recoverSince(deps, ann.webhookId, new Date(0), bob.accountId)).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(showDelivery(deps, "nothing.such")).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("deliveries that failed", () => {
  it("are resent one by one, due immediately and with their schedule from the start", async () => {
    const { accountId, webhookId } = await webhook();
    await queued(webhookId, 1);
    const id = await failed(webhookId);
    const clock = () => new Date(at(45));
    const resent = await resendDelivery({ ...deps, clock }, id, accountId);
    expect(resent).toMatchObject({ id, state: "pending", dueAt: at(45), tries: 0, eventId: "event-0" });
    expect((await showDelivery(deps, id)).log).toHaveLength(1);
  });

  it("are not sent again on the Free tier", async () => {
    const { accountId, webhookId } = await webhook();
    await queued(webhookId, 1);
    const id = await failed(webhookId);
    await changeTier(deps, operator, accountId, "free");
    await fixture.catchUp();
    await expect(resendDelivery(deps, id)).rejects.toMatchObject({ code: "tier_required" });
    await expect(recoverSince(deps, webhookId, new Date(0))).rejects.toMatchObject({ code: "tier_required" });
    await expect(replayFrom(deps, webhookId, new Date(0))).rejects.toMatchObject({ code: "tier_required" });
    expect(await showDelivery(deps, id)).toMatchObject({ state: "failed" });
  });
});

describe("a replay", () => {
  const clicked = (fields: Parameters<typeof linkClicked>[0]) =>
    newEvent(linkClicked(fields), deps.newId(), {
      ...{ correlationId: "r", causationId: "r" },
      actor: { type: "system", id: "test" },
    });

  it("queues matching clicks that have no delivery yet, once", async () => {
    const { accountId, webhookId } = await webhook();
    const { accountId: other } = await webhook();
    const wanted = [clicked({ accountId }), clicked({ accountId, kind: "qr_scan" })];
    const unwanted = [
      clicked({ accountId, kind: "preview" }),
      clicked({ accountId, via: "web" }),
      clicked({ accountId: other }),
    ];
    await deps.eventStore.append("clicks-w1-20260301", "none", [...wanted, ...unwanted]);
    await deps.eventStore.append(`clicks-${IMPORT_WRITER}1-20260301`, "none", [clicked({ accountId })]);
    const since = new Date(deps.clock().getTime() - 60_000);
    expect(await replayFrom(deps, webhookId, since, accountId)).toEqual({
      since: since.toISOString(),
      found: 2,
      queued: 2,
    });
    const { deliveries } = await listDeliveries(deps, webhookId, { limit: 50 });
    expect(deliveries.map(({ eventId }) => eventId).sort()).toEqual(wanted.map(({ id }) => id).sort());
    const [first = ""] = deliveries.map(({ id }) => id);
    expect(JSON.parse((await showDelivery(deps, first)).body)).toMatchObject({ event: "link.clicked" });
    expect(await replayFrom(deps, webhookId, since)).toMatchObject({ found: 2, queued: 0 });
    const future = new Date(deps.clock().getTime() + 60_000);
    expect(await replayFrom(deps, webhookId, future)).toMatchObject({ found: 0, queued: 0 });
    await expect(replayFrom(deps, webhookId, since, other)).rejects.toMatchObject({ code: "not_found" });
  });
});
