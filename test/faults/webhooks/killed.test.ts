// The delivering process is killed repeatedly: every event is delivered, and duplicates have the same id.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { WorkerSettings } from "../../../src/webhooks/delivery/worker.ts";
import { effort } from "../../support/runtime/effort.ts";
import { until } from "../../support/runtime/until.ts";
import { webhookOf } from "../../support/webhooks/webhook-of.ts";
import { acknowledge, startReceiver } from "../../support/webhooks/webhook-receiver.ts";
import { openWebhookStores, type WebhookStores } from "../../support/webhooks/webhook-run.ts";

const program = fileURLToPath(new URL("../../support/webhooks/webhook-worker.ts", import.meta.url));

/** Shortened: the real schedule takes 27 hours. */
const SETTINGS: Partial<WorkerSettings> = {
  perWebhook: 32,
  claimMs: 1_500,
  pollMs: 50,
  delaysMs: [0, ...new Array<number>(40).fill(100)],
  rest: { failures: 10, fromMs: 100, toMs: 500 },
};

describe("a delivery process that is killed", () => {
  let stores: WebhookStores;
  beforeEach(async () => {
    stores = await openWebhookStores();
  });
  afterEach(() => stores.close());

  /** Resolves when it runs. `lines`: its output. */
  async function startProcess(...more: string[]) {
    const args = [program, stores.dataDir, JSON.stringify(SETTINGS), ...more];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const lines: string[] = [];
    child.stdout.on("data", (chunk: Buffer) => void lines.push(...chunk.toString().trim().split("\n")));
    await until("a process that delivers", () => lines.includes("running"), { withinMs: 90_000 });
    return { child, lines };
  }
  async function end(child: ChildProcess, signal: "SIGKILL" | "SIGTERM") {
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }

  it("resends, with the same id and body, a delivery that was answered 200 but not settled yet", async () => {
    const account = await stores.account();
    const receiver = await startReceiver();
    const { webhookId } = await webhookOf(stores.backend, account, receiver.port);
    const [id] = await stores.clicks(account, 1);
    const first = await startProcess("mute");
    await until("an answer", () => first.lines.includes("answered 200"));
    await end(first.child, "SIGKILL");
    const list = () => stores.backend.deliveryQueue.list({ webhookId, limit: 10 });
    expect(await list()).toMatchObject([{ eventId: id, state: "pending", tries: 0 }]);

    const second = await startProcess();
    await until("the delivery", async () => (await list())[0]?.state === "delivered");
    await end(second.child, "SIGTERM");
    expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual([id, id]);
    expect(receiver.received[0]?.body).toEqual(receiver.received[1]?.body);
  }, 60_000);

  it("delivers every event at least once through kills, to a receiver that fails 30 % of the time", async () => {
    const [deliveries, kills, webhookCount] = [effort(500, 5_000), effort(4, 20), 5];
    const random = seeded(20260301);
    const accepted = new Map<string, number>();
    const bodies = new Map<string, string>();
    let [requests, refused, altered] = [0, 0, 0];
    const receiver = await startReceiver({
      answer(response, { headers, body }) {
        const id = `${headers["x-api-key"]} ${headers["webhook-id"]}`;
        requests += 1;
        if ((bodies.get(id) ?? body.toString()) !== body.toString()) altered += 1;
        bodies.set(id, body.toString());
        if (random() < 0.3) {
          refused += 1;
          response.writeHead(503).end();
          return;
        }
        accepted.set(id, (accepted.get(id) ?? 0) + 1);
        acknowledge(response);
      },
    });
    const account = await stores.account();
    const hooks = [];
    while (hooks.length < webhookCount) hooks.push(await webhookOf(stores.backend, account, receiver.port));

    // Clicks arrive during the kills and takeovers, so that the router is killed while it is routing too.
    const ids: string[] = [];
    const batch = deliveries / webhookCount / kills;
    let running = await startProcess();
    for (let kill = 0; kill < kills; kill++) {
      const enough = requests + Math.floor(random() * batch * webhookCount);
      const [next, clicks] = await Promise.all([startProcess(), stores.clicks(account, batch)]);
      ids.push(...clicks);
      await until("the process to be at work", () => requests >= enough);
      await end(running.child, "SIGKILL");
      running = next;
    }
    const { deliveryQueue } = stores.backend;
    const now = () => new Date().toISOString();
    await until(
      "all deliveries",
      async () => (await deliveryQueue.stats(now(), [])).pending === 0 && accepted.size >= deliveries,
      { withinMs: 150_000 },
    );
    await end(running.child, "SIGTERM");

    const expected = hooks.flatMap(({ key }) => ids.map((id) => `${key} ${id}`));
    const lost = expected.filter((id) => !accepted.has(id)).length;
    const wanted = new Set(expected);
    const unknown = [...accepted.keys()].filter((id) => !wanted.has(id)).length;
    const twice = [...accepted.values()].filter((times) => times > 1).length;
    process.stdout.write(
      `${kills} kills: ${expected.length} deliveries, ${requests} requests, ${refused} refused by the receiver, ` +
        `${twice} accepted more than once with the same id, ${lost} lost\n`,
    );
    expect({ lost, unknown, altered }).toEqual({ lost: 0, unknown: 0, altered: 0 });
    expect(expected).toHaveLength(deliveries);
    for (const { webhookId } of hooks) {
      const delivered = await deliveryQueue.list({ webhookId, state: "delivered", limit: 5_000 });
      expect(delivered).toHaveLength(ids.length);
    }
  }, 600_000);
});

/** A seeded generator (mulberry32), so that a failure is reproducible. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
