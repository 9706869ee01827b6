// `webhook listen`: a receiver on a machine that the service can't reach gets what the webhook is sent, signed as it is, each
// once and in order, over connections that break.
import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { changeWebhook, pauseWebhook } from "../../../src/commands/webhooks/change-webhooks.ts";
import { linkStream } from "../../../src/events/streams.ts";
import type { WebhookDocument } from "../../../src/projections/definitions/webhooks.ts";
import { operator } from "../../support/commands/command-deps.ts";
import { appendNext } from "../../support/event-store/append-next.ts";
import { until } from "../../support/runtime/until.ts";
import { runCommand } from "../../support/service/command-line.ts";
import { type Member, startTestService, type TestService } from "../../support/service/start-service.ts";
import { signingSecret } from "../../support/webhooks/signing-secret.ts";
import { webhookDeps, webhookOf } from "../../support/webhooks/webhook-of.ts";
import { type Receiver, startReceiver } from "../../support/webhooks/webhook-receiver.ts";

const BROWSER =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36";

describe("webhook listen", { timeout: 180_000 }, () => {
  let service: TestService;
  let member: Member;
  beforeAll(async () => {
    service = await startTestService({ WEBHOOK_ALLOW_PRIVATE: "true" });
    member = await service.member("developer");
  });
  afterAll(() => service.stop());

  const shorten = async (url: string) =>
    (await service.post<{ slug: string }>("/api/v1/shorten", member.key, { url })).body.slug;
  const click = (slug: string) => service.ask(`/${slug}`, { headers: { "user-agent": BROWSER } });
  const documentOf = (webhookId: string) =>
    service.backend.readStore.get<WebhookDocument>("webhooks", webhookId);
  const slugsOf = ({ received }: Receiver) =>
    received.map(({ body }) => (JSON.parse(body.toString()) as { data: { link_id: string } }).data.link_id);

  /** Until the test is over; `end` interrupts it. `port`: of the service, or of what is before it. */
  function listen(
    webhook: string,
    to: Receiver,
    { port = service.port, key = member.key, args = [] as string[] } = {},
  ) {
    const signals = new EventEmitter();
    const environment = {
      LINKLEDGER_KEY: key,
      LINKLEDGER_URL: `http://127.0.0.1:${port}`,
      WEBHOOK_KEY: "whk_own",
    };
    const forward = ["--forward", `http://127.0.0.1:${to.port}/local`];
    const running = runCommand(["webhook", "listen", webhook, ...forward, ...args], {
      env: environment,
      signals,
    });
    const end = async () => {
      signals.emit("SIGINT");
      return await running;
    };
    onTestFinished(async () => void (await end()));
    return { running, end };
  }

  it("forwards each delivery with its signature, also of a paused webhook, and goes on after a cut", async () => {
    const own = await startReceiver();
    const local = await startReceiver();
    const webhook = await webhookOf(service.backend, member.accountId, own.port);
    const deps = webhookDeps(service.backend);
    await changeWebhook(deps, operator, member.accountId, webhook.webhookId, {
      events: ["link.clicked", "link.created"],
    });
    await pauseWebhook(deps, operator, member.accountId, webhook.webhookId, {});
    await until(
      "the webhook's document",
      async () => (await documentOf(webhook.webhookId))?.status === "paused",
    );
    const proxy = await cuttingProxy(service.port);
    const { end } = listen(webhook.webhookId, local, { port: proxy.port });
    await until("the stream to be open", () => proxy.open() > 0 && proxy.answered() > 0);
    const first = await shorten("https://example.com/listened");
    await click(first);
    await until("the first deliveries", () => local.received.length === 2);
    const { headers, path, body } = local.received[1] as Receiver["received"][number];
    expect([path, headers["x-api-key"], headers["x-webhook-event"]]).toEqual([
      "/local",
      "whk_own",
      "link.clicked",
    ]);
    const signed = headers as Record<string, string>;
    expect(new Webhook(signingSecret(webhook.key)).verify(body.toString(), signed)).toMatchObject({
      ...{ event: "link.clicked", data: { link_id: first, long_url: "https://example.com/listened" } },
    });

    proxy.cut();
    const others: string[] = [];
    for (let n = 0; n < 3; n++) others.push(await shorten(`https://example.com/cut-${n}`));
    for (const slug of others) await click(slug);
    proxy.mend();
    await until("what happened meanwhile", () => local.received.length >= 8);
    expect(slugsOf(local).slice(2, 5)).toEqual(others);
    expect(slugsOf(local).slice(5).sort()).toEqual([...others].sort());
    const ids = local.received.map(({ headers: sent }) => sent["webhook-id"]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(own.received).toEqual([]);

    const { code, stderr, stdout } = await end();
    expect([code, stdout.trim().split("\n").length]).toEqual([130, 8]);
    const [, position = ""] = /8 delivered, 0 refused; go on by --after (\S+)/.exec(stderr) ?? [];
    const late = await shorten("https://example.com/late");
    const again = await startReceiver({ answer: (response) => response.writeHead(500).end() });
    const { end: endAgain } = listen(webhook.webhookId, again, { args: ["--after", position] });
    await until("what came after it", () => again.received.length === 1);
    expect(slugsOf(again)).toEqual([late]);
    expect((await endAgain()).stderr).toContain("0 delivered, 1 refused");
  });

  it("misses nothing where the connection breaks before the first delivery", async () => {
    const local = await startReceiver();
    const { webhookId } = await webhookOf(service.backend, member.accountId, local.port);
    await until("the webhook's document", async () => (await documentOf(webhookId)) !== undefined);
    await pauseWebhook(webhookDeps(service.backend), operator, member.accountId, webhookId, {});
    const proxy = await cuttingProxy(service.port);
    listen(webhookId, local, { port: proxy.port });
    await until("the stream to be open", () => proxy.open() > 0 && proxy.answered() > 0);
    proxy.cut();
    const slug = await shorten("https://example.com/cut-at-once");
    await click(slug);
    proxy.mend();
    await until("what happened meanwhile", () => local.received.length > 0);
    expect(slugsOf(local)).toEqual([slug]);
  });

  it("goes on behind a link whose history can't be read", async () => {
    const local = await startReceiver();
    const webhook = await webhookOf(service.backend, member.accountId, local.port);
    const deps = webhookDeps(service.backend);
    const events = ["link.created", "link.updated"] as const;
    await changeWebhook(deps, operator, member.accountId, webhook.webhookId, { events: [...events] });
    await pauseWebhook(deps, operator, member.accountId, webhook.webhookId, {});
    await until(
      "the webhook's document",
      async () => (await documentOf(webhook.webhookId))?.status === "paused",
    );
    const after = await service.backend.eventStore.head();
    const slug = await shorten("https://example.com/spoilt");
    const { host } = new URL(service.config.baseUrl);
    const metadata = {
      schemaVersion: 1,
      correlationId: "test",
      causationId: "test",
      actor: { type: "operator" },
    };
    const lately = new Date(Date.now() - 3_600_000).toISOString();
    const of = { host, slug, accountId: member.accountId, at: lately };
    await appendNext(service.backend.eventStore, linkStream(host, slug), [
      { id: randomUUID(), type: "LinkRetargeted", data: { ...of, longUrl: 7 }, metadata },
      { id: randomUUID(), type: "LinkDisabled", data: of, metadata },
    ] as never);
    const later = await shorten("https://example.com/after-spoilt");
    await appendNext(service.backend.eventStore, linkStream(host, later), [
      { id: randomUUID(), type: "LinkDisabled", data: { ...of, slug: later }, metadata },
    ] as never);
    listen(webhook.webhookId, local, { args: ["--after", after] });
    await until("the deliveries", () => local.received.length === 3);
    expect(slugsOf(local)).toEqual([slug, later, later]);

    // Old ones are signed as of now, within the five minutes that receivers allow; the event's own time is in the body.
    const updates = await startReceiver();
    const { end } = listen(webhook.webhookId, updates, {
      args: ["--after", after, "--events", "link.updated"],
    });
    await until("the changes", () => updates.received.length > 0);
    const { headers, body } = updates.received[0] as Receiver["received"][number];
    const genuine = new Webhook(signingSecret(webhook.key));
    expect(genuine.verify(body.toString(), headers as Record<string, string>)).toMatchObject({
      ...{ event: "link.updated", timestamp: of.at, data: { link_id: later } },
    });
    await shorten("https://example.com/not-wanted");
    expect((await end()).stdout).toMatch(/^link\.updated \S+ 200\n$/);
    const told = await listen(webhook.webhookId, updates, { args: ["--events", "link.ended"] }).running;
    expect(told.stderr).toContain("must be events of webhooks");
  });

  it("is refused for another account's webhook, a key that isn't valid, and on the Free plan", async () => {
    const local = await startReceiver();
    const { webhookId } = await webhookOf(service.backend, member.accountId, local.port);
    await until("the webhook's document", async () => (await documentOf(webhookId)) !== undefined);
    const stranger = await service.member("developer");
    const free = await service.member("free");
    const refused = async (key: string, webhook = webhookId) =>
      (await listen(webhook, local, { key }).running).stderr;
    expect(await refused(stranger.key)).toContain("Webhook not found");
    expect(await refused(member.key, "nonsense")).toContain("Webhook not found");
    expect(await refused("ll_nonsense")).toContain("Missing or invalid API key");
    expect(await refused(free.key)).toMatch(/Webhook not found|Developer/);
    expect(await refused("")).toContain("LINKLEDGER_KEY");
    expect(local.received).toEqual([]);
  });
});

/** Passes connections on; between `cut` and `mend` there are none. */
async function cuttingProxy(port: number) {
  const sockets = new Set<Socket>();
  let isCut = false;
  let answered = 0;
  const server = createServer((socket) => {
    if (isCut) return void socket.destroy();
    const onwards = connect(port, "127.0.0.1");
    for (const [end, other] of [
      [socket, onwards],
      [onwards, socket],
    ] as const) {
      sockets.add(end);
      end
        .on("error", () => undefined)
        .on("close", () => {
          sockets.delete(end);
          other.destroy();
        });
    }
    onwards.on("data", () => answered++);
    socket.pipe(onwards);
    onwards.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  return {
    ...{ port: (server.address() as AddressInfo).port, cut },
    open: () => sockets.size,
    answered: () => answered,
    mend: () => {
      isCut = false;
    },
  };
}
