// `--workers 2`: limits count once for all, and `kill -9` of a worker under load loses and doubles nothing.

import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config/config.ts";
import { openBackend } from "../../src/service/stores/backend.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { reckonClicks } from "../support/redirect/reckon-clicks.ts";
import { startRedirectLoad } from "../support/redirect/redirect-load.ts";
import { effort } from "../support/runtime/effort.ts";
import { send } from "../support/service/ask.ts";
import { instanceOfSuite } from "../support/service/instance-of-suite.ts";
import {
  accountWithKeys,
  runCommand,
  type ServiceProcess,
  startService,
} from "../support/service/service-process.ts";
import { allWorkersAnswer } from "../support/service/worker-service.ts";

const LIMIT = 50;
const PER_SECOND = 300;

describe("a service of two workers", () => {
  const instance = instanceOfSuite({ CLICK_DURABILITY: "durable" });
  let service: ServiceProcess;
  let keys: string[];
  let port: number;
  beforeAll(async () => {
    ({ keys } = await accountWithKeys(instance, "free", 2));
    service = await startService(instance, { serve: ["--workers", "2"] });
    port = Number(instance.PORT);
    await allWorkersAnswer(port);
  });
  afterAll(() => service.stop("SIGKILL"));

  /** `1` and `2` answer HTTP. Throws without such a process, because a signal to process 0 is one to this test. */
  const processOf = (worker: "1" | "2" | "background"): number => {
    const printed = execFileSync("ps", ["-o", "pid=,args=", "--ppid", String(service.child.pid)]).toString();
    const line = printed.split("\n").find((args) => args.includes(`/worker.ts ${worker} `));
    if (!line) throw new Error(`no process of worker ${worker}:\n${printed}`);
    return Number.parseInt(line, 10);
  };
  const create = (key = "") =>
    send<{ slug: string }>(port, "/api/v1/shorten", {
      method: "POST",
      key,
      body: { url: "https://example.com/" },
    });

  it("grants a key its limit, whichever worker answers, also when one is killed meanwhile", async () => {
    const half = await Promise.all(Array.from({ length: LIMIT / 2 }, () => create(keys[0])));
    expect(half.map(({ status }) => status)).toEqual(half.map(() => 201));
    process.kill(processOf("1"), "SIGKILL");
    const rest: (number | undefined)[] = [];
    // One after the other: a connection to the killed worker may have been cut before it was counted.
    while (rest.length < LIMIT) rest.push((await create(keys[0]).catch(() => undefined))?.status);
    expect(rest.filter((status) => status === 201)).toHaveLength(LIMIT / 2);
    expect(rest.filter((status) => status === 429)).toHaveLength(LIMIT / 2);
  });

  it("keeps every answered click once, counts it once, and keeps the port open when a worker is killed", async () => {
    const { body } = await create(keys[1]);
    const load = startRedirectLoad("workers", service.url, [body.slug], PER_SECOND);
    await load.answeredMore(effort(150, 500));
    await allWorkersAnswer(port);
    process.kill(processOf("1"), "SIGKILL");
    await load.answeredMore(effort(150, 500));
    await allWorkersAnswer(port);
    await load.answeredMore(effort(150, 500));
    await load.stop();
    // Connections of the killed worker were cut; no new one was refused.
    expect([...load.failed.values()].filter((why) => why.includes("ECONNREFUSED"))).toEqual([]);
    const backend = await openBackend(parseConfig(instance));
    const { lost, doubled } = await reckonClicks("two workers", [load], backend.eventStore).finally(() =>
      backend.close(),
    );
    expect({ lost, doubled }).toEqual({ lost: 0, doubled: 0 });
    const { events } = await clicksInLog();
    const total = async () => {
      const path = `/api/v1/analytics/${body.slug}`;
      const answer = await send<{ analytics: { totalClicks: number } }>(port, path, { key: keys[1] ?? "" });
      return answer.body.analytics.totalClicks;
    };
    await expect.poll(total, { interval: 500 }).toBe(events);
    await runCommand(instance, "audit", "seal");
    expect(await runCommand(instance, "audit", "verify")).toMatchObject({ ok: true });
  });

  it("answers while the primary is paused, each worker by its own count of what it had granted", async () => {
    expect((await create(keys[0])).status).toBe(429);
    service.child.kill("SIGSTOP");
    try {
      const [created, metrics] = await Promise.all([create(keys[1]), send(port, "/metrics", {})]);
      expect([created.status, created.headers["x-ratelimit-limit"]]).toEqual([201, `${LIMIT}`]);
      expect([metrics.status, metrics.headers["retry-after"]]).toEqual([503, "2"]);
    } finally {
      service.child.kill("SIGCONT");
    }
    expect((await create(keys[0])).status).toBe(429);
  });

  async function clicksInLog() {
    const backend = await openBackend(parseConfig(instance));
    try {
      return {
        events: (await loggedEvents(backend.eventStore, { categories: ["clicks"], limit: 1_000_000 })).length,
      };
    } finally {
      await backend.close();
    }
  }
});
