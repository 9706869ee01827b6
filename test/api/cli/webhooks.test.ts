// linkledger webhook: adding, changing and removing webhooks, and what was sent to them.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deliveryId } from "../../../src/webhooks/queue/queue.ts";
import { commandLine } from "../../support/service/command-line.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";
import { startReceiver } from "../../support/webhooks/webhook-receiver.ts";

const KEY = expect.stringMatching(/^whk_[A-Za-z0-9]{32}$/);
const PUBLIC_KEY = expect.stringMatching(/^whpk_[A-Za-z0-9+/]{43}=$/);
const UNKNOWN = "11111111-1111-4111-8111-111111111111";

let service: TestService;
let cli: ReturnType<typeof commandLine>;
const json = (...args: string[]) => cli.json(...args);
const refused = (...args: string[]) => cli.refused(...args);
beforeAll(async () => {
  service = await startTestService({ WEBHOOK_ALLOW_PRIVATE: "true" });
  cli = commandLine(service.config.dataDir);
});
afterAll(() => service.stop());

async function webhook(email: string, url: string): Promise<{ webhook_id: string; key: string }> {
  const { account_id } = await json("account", "create", "--email", email, "--tier", "developer");
  return await json("webhook", "add", "--account", account_id, "--url", url);
}

/** Two pending deliveries and one that failed at 12:30, as the worker stores them. */
async function deliveriesOf(webhookId: string): Promise<string> {
  const { deliveryQueue } = service.backend;
  const now = "2026-05-01T12:00:00.000Z";
  const delivery = (n: number) => ({ webhookId, eventId: `event-${n}`, event: "link.clicked", body: "{}" });
  await deliveryQueue.enqueue([delivery(1), delivery(2), delivery(3)], now);
  const [claimed] = await deliveryQueue.claim({ webhookId, token: "t", now, until: now, limit: 1 });
  if (!claimed) throw new Error("nothing was due");
  const at = "2026-05-01T12:30:00.000Z";
  const error = { code: "status", message: "Answered 500" };
  const attempt = { at, durationMs: 12, status: 500, error, answer: "oh no", nextTryAt: null };
  await deliveryQueue.settle(claimed, attempt, { state: "failed" });
  return claimed.id;
}

const account = async (tier: string) =>
  (await json("account", "create", "--email", `${tier}@b.c`, "--tier", tier)).account_id;

describe("linkledger webhook", { timeout: 300_000 }, () => {
  it("adds, shows, changes, pauses, resumes, rotates and removes", async () => {
    const id = await account("developer");
    const url = "https://hooks.example.com/linkledger";
    const made = await json("webhook", "add", "--account", id, "--url", url, "--label", "first");
    expect(made).toEqual({ webhook_id: expect.any(String), key: KEY });
    const webhook = made.webhook_id;

    const { webhooks } = await json("webhook", "list", "--account", id);
    const row = {
      ...{ webhook_id: webhook, account_id: id, url, label: "first", kinds: ["click", "qr_scan"] },
      ...{ events: ["link.clicked"], via: ["api"], domains: [], tags: [] },
      ...{ status: "active", paused_by: null, reason: null, cause: null, paused_at: null },
      ...{ key_hint: made.key.slice(-4), public_key: PUBLIC_KEY, previous_key_until: null },
      ...{ added_at: expect.any(String), changed_at: expect.any(String) },
    };
    expect(webhooks).toEqual([row]);
    expect(await json("webhook", "show", webhook)).toEqual({ ...row, resting: null });
    const { stdout } = await cli.linkledger(["webhook", "show", webhook]);
    expect([/^Domains +all$/m.test(stdout), /^Tags +all$/m.test(stdout)]).toEqual([true, true]);
    expect(await json("account", "show", id)).toMatchObject({ webhooks: [row] });

    expect(await json("webhook", "change", webhook, "--kinds", "click,preview", "--label", "")).toEqual({
      webhook_id: webhook,
      url,
      kinds: ["click", "preview"],
      ...{ events: ["link.clicked"], via: ["api"], domains: [], tags: [] },
      label: "",
    });
    const chosen = ["--events", "link.deleted,link.created", "--tags", "sale, news"];
    expect(await json("webhook", "change", webhook, ...chosen)).toMatchObject({
      ...{ events: ["link.created", "link.deleted"], tags: ["news", "sale"], domains: [] },
    });
    expect(await json("webhook", "change", webhook, "--tags", "")).toMatchObject({ tags: [] });
    expect(await json("webhook", "change", webhook, "--via", "web,api")).toMatchObject({
      via: ["api", "web"],
    });
    expect(await json("webhook", "show", webhook)).toMatchObject({ via: ["api", "web"] });
    expect(await refused("webhook", "change", webhook, "--via", "mail")).toMatch(/one or more of api, web/);
    expect(await json("webhook", "pause", webhook, "--reason", "maintenance")).toEqual({
      webhook_id: webhook,
      status: "paused",
    });
    expect(await json("webhook", "show", webhook)).toMatchObject({
      kinds: ["click", "preview"],
      status: "paused",
      paused_by: "operator",
      reason: "maintenance",
    });
    expect(await json("webhook", "resume", webhook)).toEqual({ webhook_id: webhook, status: "active" });

    const rotated = await json("webhook", "rotate", webhook);
    expect(rotated).toEqual({
      ...{ webhook_id: webhook, key: KEY, public_key: PUBLIC_KEY },
      previous_key_until: expect.any(String),
    });
    expect(rotated.key).not.toBe(made.key);
    expect(await json("webhook", "show", webhook)).toMatchObject({
      status: "active",
      reason: null,
      key_hint: rotated.key.slice(-4),
      public_key: rotated.public_key,
      previous_key_until: rotated.previous_key_until,
    });

    expect(await json("webhook", "remove", webhook)).toEqual({ webhook_id: webhook, status: "removed" });
    expect(await json("webhook", "remove", webhook)).toEqual({ webhook_id: webhook, status: "removed" });
    expect(await json("webhook", "list", "--account", id)).toEqual({ webhooks: [] });
    expect(await refused("webhook", "show", webhook)).toMatch(/not found/);
    expect(await refused("webhook", "rotate", webhook)).toMatch(/not found/);
  });

  it("says in one line what is wrong", async () => {
    const id = await account("free");
    const add = (url: string, ...more: string[]) =>
      refused("webhook", "add", "--account", id, "--url", url, ...more);
    expect(await add("https://hooks.example.com/")).toMatch(/Webhooks require the Developer plan/);
    await json("account", "tier", id, "developer");
    expect(await add("https://hooks.example.com/", "--kinds", "click,sale")).toMatch(
      /click, preview, qr_scan/,
    );
    expect(await add("https://hooks.example.com/", "--domains", "a.example")).toMatch(
      /a\.example is no domain/,
    );
    const commands = ["show", "change", "pause", "resume", "rotate", "remove"];
    const answers = await Promise.all(commands.map((command) => refused("webhook", command, UNKNOWN)));
    for (const answer of answers) expect(answer).toMatch(/Webhook not found/);
    expect(await refused("webhook", "list", "--account", UNKNOWN)).toMatch(/not found/);
  });

  it("test sends a signed sample and shows request and answer, the key masked", async () => {
    const { port, received } = await startReceiver();
    const url = `http://127.0.0.1:${port}/hook`;
    const { webhook_id: id, key } = await webhook("test@b.c", url);
    const tested = await json("webhook", "test", id);
    expect(tested).toMatchObject({
      webhook_id: id,
      delivered: true,
      request: { method: "POST", url, headers: { "X-Webhook-Event": "link.clicked" } },
      answer: { duration_ms: expect.any(Number), status: 200, error: null, body: '{"received":true}' },
    });
    expect(received).toMatchObject([{ path: "/hook", headers: { "x-api-key": key } }]);
    expect(JSON.stringify(tested)).not.toContain(key);
  });

  it("test shows why nothing could be delivered, with exit code 1", async () => {
    const { webhook_id: id } = await webhook("refused@b.c", "http://127.0.0.1:1024/");
    const { code, stdout, stderr } = await cli.linkledger(["webhook", "test", id, "--json"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      delivered: false,
      answer: { status: null, error: { code: "connect_failed" } },
    });
  });

  it("lists, shows, resends and recovers deliveries", async () => {
    const { webhook_id: id } = await webhook("log@b.c", "https://hooks.example.com/");
    const failed = await deliveriesOf(id);
    const first = await json("webhook", "deliveries", id, "--limit", "2");
    expect(first.deliveries).toHaveLength(2);
    const second = await json("webhook", "deliveries", id, "--cursor", first.next_cursor);
    expect(second).toMatchObject({ deliveries: [{}], next_cursor: null });

    const lastAttempt = {
      ...{ at: "2026-05-01T12:30:00.000Z", duration_ms: 12, status: 500, next_try_at: null },
      error: { code: "status", message: "Answered 500" },
    };
    const row = {
      ...{ delivery_id: failed, webhook_id: id, event_id: "event-1", event: "link.clicked" },
      ...{ state: "failed", created_at: "2026-05-01T12:00:00.000Z", due_at: null },
      ...{ finished_at: expect.any(String), tries: 1, last_attempt: lastAttempt },
    };
    expect(failed).toBe(deliveryId(id, "event-1"));
    expect(await json("webhook", "deliveries", id, "--state", "failed")).toEqual({
      deliveries: [row],
      next_cursor: null,
    });
    expect(await json("webhook", "delivery", failed)).toEqual({
      ...row,
      body: "{}",
      attempts: [{ ...lastAttempt, answer: "oh no" }],
    });

    expect(await json("webhook", "recover", id, "--since", "2026-05-01T12:31:00Z")).toMatchObject({
      recovered: 0,
    });
    expect(await json("webhook", "recover", id, "--since", "2026-05-01T12:30:00Z")).toEqual({
      webhook_id: id,
      since: "2026-05-01T12:30:00.000Z",
      recovered: 1,
    });
    expect(await json("webhook", "resend", failed)).toMatchObject({ state: "pending", tries: 0 });

    expect(await json("webhook", "replay", id, "--since", "24h")).toEqual({
      webhook_id: id,
      since: expect.any(String),
      found: 0,
      queued: 0,
    });

    expect(await refused("webhook", "delivery", "nothing.such")).toMatch(/Delivery not found/);
    expect(await refused("webhook", "recover", id, "--since", "yesterday")).toMatch(/24h/);
    expect(await refused("webhook", "deliveries", id, "--cursor", "nonsense")).toMatch(/cursor/);
  });
});
