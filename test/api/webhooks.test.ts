// Webhooks end to end (interface, part 6): real service, real clicks, real receiver.
import { createPublicKey, verify } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { currentAccounts } from "../../src/commands/account/account-stream.ts";
import { createLink } from "../../src/commands/links/create-link.ts";
import { slugDerivation } from "../../src/commands/links/derived-identity.ts";
import { passwordWork } from "../../src/commands/password-work.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import {
  changeWebhook,
  pauseWebhook,
  removeWebhook,
  resumeWebhook,
} from "../../src/commands/webhooks/change-webhooks.ts";
import { replayFrom } from "../../src/webhooks/owner-tools/replay-webhook.ts";
import { deliveryId } from "../../src/webhooks/queue/queue.ts";
import { operator } from "../support/commands/command-deps.ts";
import { BASE_URL, onCluster, startTestService, type TestService } from "../support/service/start-service.ts";
import { signingSecret } from "../support/webhooks/signing-secret.ts";
import { webhookDeps, webhookOf } from "../support/webhooks/webhook-of.ts";
import { type Receiver, startReceiver } from "../support/webhooks/webhook-receiver.ts";

const BROWSER =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36";
const LINKS = {
  baseHostSlugs: false,
  derivedSlug: slugDerivation("0".repeat(32)),
  ...{ baseUrl: BASE_URL, baseHost: "localhost" },
  ...{ urlSafety: async () => ["safe" as const], recheckLater: async () => undefined },
  linksWithFingerprint: async () => [],
};
const PATIENT = { timeout: 15_000, interval: 20 };
/** A key of a Free account may ask 50 times an hour. */
const SELDOM = { timeout: 15_000, interval: 400 };

describe("webhooks", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ WEBHOOK_ALLOW_PRIVATE: "true", TRUST_PROXY: "127.0.0.1" });
    return () => service.stop();
  });

  const shorten = async (key: string, more: object = {}) => {
    const answer = await service.post<{ slug: string; short_url: string }>("/api/v1/shorten", key, {
      url: "https://example.com/page",
      ...more,
    });
    expect(answer.status).toBe(201);
    return answer.body;
  };
  const click = async (path: string, more: { host?: string; headers?: Record<string, string> } = {}) => {
    const { headers, ...rest } = more;
    const answer = await service.ask(path, { ...rest, headers: { "user-agent": BROWSER, ...headers } });
    expect(answer.status).toBe(301);
  };
  const gets = async (receiver: Receiver, slugs: string[]) => {
    await vi.waitFor(() => expect(slugsOf(receiver).sort()).toEqual([...slugs].sort()), PATIENT);
  };

  it("sends exactly one signed request for a click on a link made through the API", async () => {
    const { accountId, key } = await service.member("developer");
    const receiver = await startReceiver();
    const webhook = await webhookOf(service.backend, accountId, receiver.port);
    const link = await shorten(key);
    const headers = { "x-forwarded-for": "93.184.216.34", referer: "https://news.example/a?b" };
    await click(`/${link.slug}`, { headers });
    await gets(receiver, [link.slug]);

    const [request] = receiver.received;
    if (!request) throw new Error("nothing received");
    expect(request).toMatchObject({ method: "POST", path: "/hook" });
    expect(request.headers).toMatchObject({
      "x-api-key": webhook.key,
      "x-webhook-event": "link.clicked",
      "content-type": "application/json",
      "user-agent": "service-webhooks/2.0",
    });
    expect(request.headers["x-webhook-timestamp"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const signed = request.headers as Record<string, string>;
    const verified = new Webhook(signingSecret(webhook.key)).verify(request.body.toString(), signed);
    expect(verified).toMatchObject({
      event: "link.clicked",
      data: {
        link_id: link.slug,
        short_url: link.short_url,
        long_url: "https://example.com/page",
        click_data: { ip: "93.184.216.0", user_agent: BROWSER, device_type: "desktop", browser: "Chrome" },
      },
    });

    const id = deliveryId(webhook.webhookId, String(request.headers["webhook-id"]));
    await vi.waitFor(async () => {
      const delivery = await service.backend.deliveryQueue.get(id);
      expect(delivery).toMatchObject({ state: "delivered", tries: 1, body: request.body.toString() });
      expect(delivery?.log).toMatchObject([{ status: 200, error: null, answer: '{"received":true}' }]);
    }, PATIENT);
    const second = await shorten(key);
    await click(`/${second.slug}`);
    await gets(receiver, [link.slug, second.slug]);
  });

  it("tells a webhook that chose so of a link's life, and of the links alone that it chose", async () => {
    const { accountId, key } = await service.member("developer");
    const receiver = await startReceiver();
    const { webhookId } = await webhookOf(service.backend, accountId, receiver.port);
    const events = ["link.created", "link.updated", "link.deleted"];
    const chosen = { events, tags: ["told"] };
    await changeWebhook(webhookDeps(service.backend), operator, accountId, webhookId, chosen);
    await shorten(key, { tags: ["another"] });
    const { slug } = await shorten(key, { tags: ["told"] });
    const path = `/api/v1/links/${slug}`;
    const patched = await service.ask(path, { method: "PATCH", key, body: { title: "Told" } });
    expect(patched.status).toBe(200);
    await click(`/${slug}`);
    expect((await service.ask(path, { method: "DELETE", key })).status).toBe(200);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(3), PATIENT);
    const told = receiver.received.map(({ headers, body }) => [
      headers["x-webhook-event"],
      JSON.parse(body.toString()),
    ]);
    expect(told.map(([event]) => event).sort()).toEqual([...events].sort());
    expect(Object.fromEntries(told)["link.updated"]).toMatchObject({
      ...{ event: "link.updated" },
      data: { link_id: slug, title: "Told", changes: { title: { from: null, to: "Told" } } },
    });
  });

  it("tells once of a link that has expired, and of one whose clicks are used up, signed by its key pair too", async () => {
    const { accountId, key } = await service.member("developer");
    const receiver = await startReceiver();
    const { webhookId, publicKey } = await webhookOf(service.backend, accountId, receiver.port);
    const events = ["link.expired", "link.limit_reached"];
    await changeWebhook(webhookDeps(service.backend), operator, accountId, webhookId, { events });
    const soon = new Date(Date.now() + 1_500).toISOString();
    const ends = async (more: object) => (await shorten(key, more)).slug;
    const expiring = await ends({ expires_at: soon });
    const [deleted, moved, off] = [
      await ends({ expires_at: soon }),
      await ends({ expires_at: soon }),
      await ends({ expires_at: soon }),
    ];
    const change = (method: string, slug: string, body?: object) =>
      service.ask(`/api/v1/links/${slug}`, { method, key, body });
    await change("DELETE", deleted);
    await change("PATCH", moved, { expires_at: "2090-01-01" });
    await change("PATCH", off, { disabled: true });
    const limited = await ends({ max_clicks: 2 });
    const unused = await ends({ max_clicks: 2 });
    const preview = { "user-agent": "curl/8.0" };
    await service.ask(`/${unused}`, { headers: { "user-agent": BROWSER } });
    await service.ask(`/${unused}`, { headers: preview });
    for (const _ of [1, 2]) await service.ask(`/${limited}`, { headers: { "user-agent": BROWSER } });
    const told = () =>
      receiver.received.map(({ body }) => JSON.parse(body.toString()) as { event: string; data: Told });
    type Told = { slug: string; status: string; expires_at?: string; max_clicks?: number };
    await vi.waitFor(() => expect(told()).toHaveLength(2), PATIENT);
    // A later run of the job tells of the one that is enabled, and of no other again.
    await change("PATCH", off, { disabled: false });
    await vi.waitFor(() => expect(told()).toHaveLength(3), PATIENT);
    expect(told().sort((a, b) => (a.event < b.event ? -1 : 1))).toMatchObject([
      { event: "link.expired", data: { slug: expiring, status: "expired", expires_at: soon } },
      { event: "link.expired", data: { slug: off, status: "expired", expires_at: soon } },
      { event: "link.limit_reached", data: { slug: limited, status: "used_up", max_clicks: 2 } },
    ]);
    for (const { headers, body } of receiver.received) {
      const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
      const [symmetric, asymmetric, ...others] = String(headers["webhook-signature"]).split(" ");
      expect([symmetric?.startsWith("v1,"), others]).toEqual([true, []]);
      const x = Buffer.from(publicKey.slice(5), "base64").toString("base64url");
      const publicOne = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
      const signature = Buffer.from(String(asymmetric).replace(/^v1a,/, ""), "base64");
      expect(verify(null, Buffer.from(signed), publicOne, signature)).toBe(true);
    }
    const { body } = await service.ask<{ events: { type: string; data: object }[] }>(
      "/api/v1/events?types=WebhookAdded,LinkExpired,LinkLimitReached",
      { key },
    );
    expect(body.events.map(({ type }) => type).sort()).toEqual([
      "LinkExpired",
      "LinkExpired",
      "LinkLimitReached",
      "WebhookAdded",
    ]);
    expect(body.events.find(({ type }) => type === "WebhookAdded")?.data).toMatchObject({ publicKey });
  }, 60_000);

  it("sends nothing for links made in the web interface, and for those of a custom domain as for others", async () => {
    const { accountId, key } = await service.member("developer");
    const receiver = await startReceiver();
    await webhookOf(service.backend, accountId, receiver.port);
    const context = { requestId: "test", actor: { type: "person", id: accountId } } as const;
    const web = { accountId, tier: "developer", via: "web" } as const;
    const currentAccount = currentAccounts(service.backend.eventStore).current;
    const deps = {
      ...runtimeDeps,
      ...service.backend,
      ...LINKS,
      currentAccount,
      passwordWork: passwordWork(),
    };
    const made = await createLink(deps, context, web, { url: "https://example.com/web" });
    const domainId = await service.domain(accountId, "go.webhooks.example");
    const custom = await shorten(key, { customSlug: "from-domain", domain_id: domainId });
    await click(`/${made.link.slug}`);
    await click(`/${custom.slug}`, { host: "go.webhooks.example" });
    const last = await shorten(key);
    await click(`/${last.slug}`);
    await gets(receiver, [custom.slug, last.slug]);
  });

  it("sends each kind of click to the webhooks with that kind, previews only where chosen", async () => {
    const { accountId, key } = await service.member("developer");
    const [usual, previews] = [await startReceiver(), await startReceiver()];
    await webhookOf(service.backend, accountId, usual.port);
    await webhookOf(service.backend, accountId, previews.port, ["preview"]);
    const [preview, scan, plain] = [await shorten(key), await shorten(key), await shorten(key)];
    await click(`/${preview.slug}`, { headers: { "sec-purpose": "prefetch" } });
    await click(`/${scan.slug}?qr=1`);
    await click(`/${plain.slug}`);
    await gets(usual, [scan.slug, plain.slug]);
    await gets(previews, [preview.slug]);
  });

  it("sends nothing from before the webhook was added, or while it was paused, until a replay is requested", async () => {
    const { accountId, key } = await service.member("developer");
    const receiver = await startReceiver();
    const links = [];
    while (links.length < 5) links.push(await shorten(key));
    const [before, first, paused, last, removed] = links.map(({ slug }) => slug) as [
      ...[string, string, string, string, string],
    ];
    const since = new Date();
    const other = await startReceiver();
    await webhookOf(service.backend, accountId, other.port);
    await click(`/${before}`);
    await gets(other, [before]);
    const { webhookId } = await webhookOf(service.backend, accountId, receiver.port);
    const deps = webhookDeps(service.backend);
    await click(`/${first}`);
    await gets(receiver, [first]);
    await pauseWebhook(deps, operator, accountId, webhookId);
    await click(`/${paused}`);
    await gets(other, [before, first, paused]);
    await resumeWebhook(deps, operator, accountId, webhookId);
    await click(`/${last}`);
    await gets(receiver, [first, last]);

    const { baseUrl } = service.config;
    const replayDeps = { ...runtimeDeps, ...service.backend, baseUrl };
    const replayed = () => replayFrom(replayDeps, webhookId, since, accountId);
    expect(await replayed()).toMatchObject({ found: 4, queued: 2 });
    await gets(receiver, [before, first, paused, last]);
    expect(await replayed()).toMatchObject({ found: 4, queued: 0 });

    await removeWebhook(deps, operator, accountId, webhookId);
    await click(`/${removed}`);
    await gets(other, [before, first, paused, last, removed]);
    expect(receiver.received).toHaveLength(4);
  });

  it("sends nothing while the account is on the Free tier", async () => {
    const { accountId, key } = await service.member("developer");
    const receiver = await startReceiver();
    await webhookOf(service.backend, accountId, receiver.port);
    const [free, developer] = [await shorten(key), await shorten(key)];
    await service.changeTier(accountId, "free");
    await click(`/${free.slug}`);
    await vi.waitFor(async () => expect(await clicksOf(key, free.slug)).toBe(1), SELDOM);
    await service.changeTier(accountId, "developer");
    await click(`/${developer.slug}`);
    await gets(receiver, [developer.slug]);
  });

  it.skipIf(onCluster())("shows in the metrics what is queued, tried and late", async () => {
    const { text } = await service.ask("/metrics");
    expect(text).toMatch(/^linkledger_webhook_attempts_total\{outcome="delivered"\} [1-9]/m);
    expect(text).toMatch(/^linkledger_webhook_deliveries_due 0$/m);
    expect(text).toMatch(/^linkledger_webhook_receivers_resting 0$/m);
    expect(text).toMatch(/^linkledger_webhook_claim_lag_seconds_count [1-9]/m);
    expect(text).toMatch(/^linkledger_webhook_router_lag_seconds 0$/m);
  });

  async function clicksOf(key: string, slug: string): Promise<number> {
    const { body } = await service.ask<{ analytics?: { totalClicks: number } }>(`/api/v1/analytics/${slug}`, {
      key,
    });
    return body.analytics?.totalClicks ?? 0;
  }
});

function slugsOf({ received }: Receiver): string[] {
  return received.map(({ body }) => JSON.parse(body.toString()).data.link_id);
}
