// Links with a limit or a password on a service of `--workers 2`: what one worker has let in counts for the other.

import { Agent, request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseConfig } from "../../../src/config/config.ts";
import { CATEGORY } from "../../../src/events/streams.ts";
import { openBackend } from "../../../src/service/stores/backend.ts";
import { loggedEvents } from "../../support/event-store/logged-events.ts";
import { FIREFOX } from "../../support/portal/browser-like.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { until } from "../../support/runtime/until.ts";
import { type Ask, send } from "../../support/service/ask.ts";
import {
  accountWithKeys,
  type Environment,
  instanceOf,
  type ServiceProcess,
  startService,
} from "../../support/service/service-process.ts";
import { allWorkersAnswer } from "../../support/service/worker-service.ts";

const CONNECTIONS = 50;

describe("guarded links of a service of two workers", () => {
  let folder: TemporaryFolder;
  let instance: Environment;
  let service: ServiceProcess;
  let key: string;
  let port: number;
  beforeAll(async () => {
    folder = await temporaryFolder();
    instance = await instanceOf(folder.path);
    [key = ""] = (await accountWithKeys(instance, "developer", 1)).keys;
    service = await startService(instance, { serve: ["--workers", "2"] });
    port = Number(instance.PORT);
    await allWorkersAnswer(port);
  });
  afterAll(async () => {
    await service.stop("SIGKILL");
    await folder.remove();
  });

  const shorten = (fields: object) => service.shorten(key, fields);
  /** On a connection of its own, so that the workers take turns. */
  const visit = (slug: string, { headers, ...given }: Ask = {}) =>
    send(port, `/${slug}`, { ...given, headers: { "user-agent": FIREFOX, ...headers } });
  async function peopleInLog(slug: string): Promise<number> {
    const backend = await openBackend(parseConfig(instance));
    const clicks = await loggedEvents(backend.eventStore, { categories: [CATEGORY.clicks], limit: 100_000 });
    await backend.close();
    const ofLink = clicks.map(({ data }) => data as { link: string; kind: string });
    return ofLink.filter(({ link, kind }) => link === `localhost/${slug}` && kind === "click").length;
  }

  it("leads a hundred people on, and nobody more, with max_clicks of 100 and 50 connections", async () => {
    const slug = await shorten({ max_clicks: 100 });
    const answers = new Map<number, number>();
    const perConnection = async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let n = 0; n < 10; n++) {
        const status = await statusOf(agent, `${service.url}/${slug}`);
        answers.set(status, (answers.get(status) ?? 0) + 1);
      }
      agent.destroy();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, perConnection));
    expect(Object.fromEntries(answers)).toEqual({ 302: 100, 404: CONNECTIONS * 10 - 100 });
    await until("the clicks in the log", async () => (await peopleInLog(slug)) === 100);
  });

  it("takes a password that the other worker has taken, and counts wrong ones for both", async () => {
    const slug = await shorten({ password: "open sesame" });
    const give = (password: string, address: string) =>
      visit(slug, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", "x-forwarded-for": address },
        body: `password=${password}`,
      });
    const right = await give("open sesame", "203.0.113.1");
    expect(right.status).toBe(303);
    const cookie = right.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
    const again = await Promise.all(Array.from({ length: 20 }, () => visit(slug, { headers: { cookie } })));
    expect(again.map(({ status }) => status)).toEqual(again.map(() => 302));
    let wrong = 0;
    for (; wrong < 100; wrong++) if ((await give("x", "203.0.113.2")).status !== 401) break;
    expect(wrong).toBe(60);
    expect((await give("open sesame", "203.0.113.2")).status).toBe(429);
  });

  it("counts on while the primary is paused", async () => {
    const slug = await shorten({ max_clicks: 3 });
    service.child.kill("SIGSTOP");
    try {
      const answers = [];
      while (answers.length < 6) answers.push((await visit(slug)).status);
      expect(answers).toEqual([302, 302, 302, 404, 404, 404]);
    } finally {
      service.child.kill("SIGCONT");
    }
  });

  it("redirects by a change from the moment of its answer, whichever worker made it", async () => {
    const agents = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    const answers = async (slug: string) =>
      new Set(await Promise.all(agents.map((agent) => statusOf(agent, `${service.url}/${slug}`))));
    for (let n = 0; n < 10; n++) {
      const slug = await shorten({});
      expect(await answers(slug)).toEqual(new Set([301]));
      const change = (disabled: boolean) =>
        send(port, `/api/v1/links/${slug}`, { method: "PATCH", key, body: { disabled } });
      expect((await change(true)).status).toBe(200);
      expect(await answers(slug)).toEqual(new Set([404]));
      expect((await change(false)).status).toBe(200);
      expect(await answers(slug)).toEqual(new Set([301]));
    }
    for (const agent of agents) agent.destroy();
  });

  it("sends an account ten streams of events, not ten a worker", async () => {
    const opened = Array.from({ length: 16 }, () => openStream(`${service.url}/api/v1/events/stream`, key));
    const streams = await Promise.all(opened);
    const statuses = streams.map(({ status }) => status);
    expect([statuses.filter((status) => status === 200).length, new Set(statuses)]).toEqual([
      10,
      new Set([200, 429]),
    ]);
    for (const { close } of streams) close();
    await until("a place to be free again", async () => {
      const { status, close } = await openStream(`${service.url}/api/v1/events/stream`, key);
      close();
      return status === 200;
    });
  });

  it.each(["SIGTERM", "SIGKILL"] as const)("leads as many on as it may over a stop by %s", async (signal) => {
    const [used, other] = [await shorten({ max_clicks: 1 }), await shorten({ max_clicks: 2 })];
    expect([(await visit(used)).status, (await visit(other)).status]).toEqual([302, 302]);
    await service.stop(signal);
    // Workers that a killed primary leaves behind answer for a moment longer on their port.
    instance = await instanceOf(folder.path);
    port = Number(instance.PORT);
    service = await startService(instance, { serve: ["--workers", "2"] });
    const statuses = [];
    for (const slug of [used, other, other]) statuses.push((await visit(slug)).status);
    expect(statuses).toEqual([404, 302, 404]);
  });
});

function statusOf(agent: Agent, url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { agent, headers: { "user-agent": FIREFOX } }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    })
      .on("error", reject)
      .end();
  });
}

/** Resolves with the answer's head. */
function openStream(url: string, key: string): Promise<{ status: number; close(): void }> {
  return new Promise((resolve, reject) => {
    const asking = request(url, { agent: false, headers: { accept: "text/event-stream", "x-api-key": key } });
    asking.on("response", (response) => {
      response.on("error", () => undefined).resume();
      resolve({ status: response.statusCode ?? 0, close: () => asking.destroy() });
    });
    asking.on("error", reject).end();
  });
}
