// EventStoreDB goes away under redirects, over real HTTP and with a real service process: who notices, and what is lost.
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { send } from "../support/ask.ts";
import { type EventStoreDbDouble, startDouble } from "../support/eventstoredb-double/double.ts";
import { reckonClicks } from "../support/reckon-clicks.ts";
import { type RedirectLoad, startRedirectLoad } from "../support/redirect-load.ts";
import {
  accountWithKeys,
  type Environment,
  instanceOf,
  type ServiceProcess,
  startService,
} from "../support/service-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

const PER_SECOND = 500;
/** Where the point is what becomes of each click, and not how many there are. */
const FEW = 150;
/** What a crash may cost (DESIGN §5). */
const ALLOWED_LOSS_MS = 50;
const LIMIT_MS = 180_000;
const nothingWrong = { failed: 0, lost: 0, doubled: 0 };

describe.each(["batched", "durable"] as const)(
  "redirects while EventStoreDB is away, %s clicks",
  (durability) => {
    let folder: TemporaryFolder;
    let double: EventStoreDbDouble;
    let instance: Environment;
    let service: ServiceProcess;
    let slugs: string[];

    beforeAll(async () => {
      folder = await temporaryFolder();
      double = await startDouble();
      instance = await instanceOf(folder.path, {
        EVENTSTORE_URL: double.connectionString,
        CLICK_DURABILITY: durability,
        SECRET_KEY: "the same for every process of this test",
      });
      const { keys } = await accountWithKeys(instance, "developer", 1);
      service = await startService(instance);
      const links = Array.from({ length: 20 }, (_, n) => ({ url: `https://example.com/${n}` }));
      const response = await fetch(`${service.url}/api/v1/shorten/bulk`, {
        method: "POST",
        headers: { "x-api-key": keys[0] ?? "", "content-type": "application/json" },
        body: JSON.stringify({ links }),
      });
      slugs = ((await response.json()) as { results: { slug: string }[] }).results.map(({ slug }) => slug);
      // A restarted process must find them in its documents.
      const lag = `linkledger_projection_lag_milliseconds{projection="links"}`;
      while ((await metric(lag)) !== 0) await pause(500);
    }, LIMIT_MS);

    afterEach(() => double.wire.open().catch(() => undefined));

    afterAll(async () => {
      await service.stop();
      await double.close();
      await folder.remove();
    }, LIMIT_MS);

    const load = (name: string, perSecond = FEW) =>
      startRedirectLoad(`${name}.`, service.url, slugs, perSecond);

    // Not fetch: it gives a connection up after ten seconds, however busy the machine is.
    const ask = (path: string) => send<unknown>(Number(instance.PORT), path, {});

    async function metric(name: string): Promise<number> {
      const { text } = await ask("/metrics");
      const line = text.split("\n").find((one) => one.startsWith(`${name} `));
      return Number(line?.slice(name.length + 1) ?? Number.NaN);
    }

    type Health = { status: string; degraded?: { part: string; reason: string }[] };
    const health = async () => (await ask("/health/ready")).body as Health;

    /** Asked seldom, and not of the metrics, which count what the projections have not read yet. */
    async function drained(): Promise<void> {
      while ((await metric("linkledger_clicks_waiting")) > 0) await pause(500);
      while ((await health()).degraded?.some(({ part }) => part === "click spool")) await pause(500);
    }

    const reckon = (what: string, loads: readonly RedirectLoad[]) =>
      reckonClicks(`${what}, ${durability} clicks`, loads, double.store);

    it(
      "go on during ten seconds of refused connections: none fails, no click is lost or doubled",
      async () => {
        const redirects = load("refused", PER_SECOND);
        await redirects.answeredMore(500);
        await double.wire.close();
        await pause(5000);
        expect(await metric("linkledger_spool_clicks")).toBeGreaterThan(1000);
        expect(await metric("linkledger_spool_bytes")).toBeGreaterThan(500_000);

        expect((await ask("/health/ready")).status).toBe(200);
        expect(await health()).toMatchObject({
          status: "ready",
          degraded: expect.arrayContaining([expect.objectContaining({ part: "click spool" })]),
        });
        await pause(5000);
        await double.wire.open();
        await redirects.answeredMore(500);
        await redirects.stop();
        await drained();
        const counts = await reckon("EventStoreDB away for 10 s", [redirects]);
        expect(counts.redirects).toBeGreaterThan(10 * PER_SECOND);
        expect(counts).toMatchObject(nothingWrong);
      },
      LIMIT_MS,
    );

    it(
      "are counted once although answers get lost at the edges of outages",
      async () => {
        const redirects = load("edges");
        await redirects.answeredMore(100);
        for (let outage = 0; outage < 3; outage++) {
          double.script.add("append", { kind: "drop", commit: true }, { kind: "drop", commit: true });
          await double.script.seen("append", double.script.counts.append + 2);
          await double.wire.close();
          await redirects.answeredMore(100);
          double.script.add("append", { kind: "drop", commit: true }, { kind: "drop", commit: false });
          await double.wire.open();
          await redirects.answeredMore(100);
        }
        await redirects.stop();
        await drained();
        const counts = await reckon("answers lost before and after 3 outages", [redirects]);
        expect(counts).toMatchObject(nothingWrong);
      },
      LIMIT_MS,
    );

    it(
      "don't notice a store that takes appends and never answers",
      async () => {
        const redirects = load("silent");
        await redirects.answeredMore(100);
        double.script.add("append", { kind: "silent", commit: true }, { kind: "silent", commit: false });
        await double.script.seen("append", double.script.counts.append + 2);
        await redirects.answeredMore(500);
        await redirects.stop();
        await drained();
        const counts = await reckon("appends never answered", [redirects]);
        expect(counts).toMatchObject(nothingWrong);
      },
      LIMIT_MS,
    );

    it(
      "keep their clicks through a kill -9 during the outage",
      async () => {
        const before = load("before");
        await before.answeredMore(150);
        await double.wire.close();
        await before.answeredMore(300);
        const killedAt = Date.now();
        const killed = service.stop("SIGKILL");
        await Promise.all([killed, before.stop()]);
        service = await startService(instance);
        const after = load("after");
        await after.answeredMore(300);
        await after.stop();
        expect(await metric("linkledger_spool_clicks")).toBeGreaterThan(500);
        await double.wire.open();
        await drained();
        const counts = await reckon("kill -9 during the outage", [before, after]);
        expect(after.failed.size).toBe(0);
        expect(counts.doubled).toBe(0);
        const allowedFrom = durability === "durable" ? Number.POSITIVE_INFINITY : killedAt - ALLOWED_LOSS_MS;
        expect(counts.lostAnsweredAt.filter((at) => at < allowedFrom - before.longestStallMs())).toEqual([]);
      },
      LIMIT_MS,
    );
  },
);
