// Outages of EventStoreDB under redirects, over real HTTP and with a real service process: no redirect fails.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { MOST_UNSTORED } from "../../src/redirect/clicks/recorder.ts";
import { prefixedEventStore } from "../../src/stores/event-store/prefixed-event-store.ts";
import { onOwnServers, ownServers } from "../support/cluster/own-servers.ts";
import { startDouble } from "../support/event-store/eventstoredb-double/double.ts";
import { reckonClicks } from "../support/redirect/reckon-clicks.ts";
import { type RedirectLoad, startRedirectLoad } from "../support/redirect/redirect-load.ts";
import { effort, isLong } from "../support/runtime/effort.ts";
import { stretched } from "../support/runtime/slowness.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";
import { send } from "../support/service/ask.ts";
import { accountWithKeys, instanceOf, startService } from "../support/service/service-process.ts";

const PER_SECOND = effort(200, 500);
/** Redirects during an outage, twice. */
const MANY = effort(200, 1_000);
/** Redirects per second for the tests that follow each click rather than measure load. */
const FEW = 150;
/** Batched clicks are also those of kill-nine-batched.test.ts. */
const DURABILITIES: readonly Durability[] = isLong ? ["batched", "durable"] : ["durable"];
const LIMIT_MS = 180_000;
/** A long poll interval, because answering takes CPU time from the service that the test waits for. */
const SELDOM = { withinMs: 120_000, everyMs: 500 };

type Durability = "batched" | "durable";

/** One service process on an EventStoreDB of its own, with the calls that the tests make. */
async function openScene(durability: Durability) {
  const folder = await temporaryFolder();
  const [servers, double] = await Promise.all([ownServers(), startDouble()]);
  const instance = await instanceOf(folder.path, {
    ...servers.environment,
    EVENTSTORE_URL: double.connectionString,
    CLICK_DURABILITY: durability,
  });
  const { keys } = await accountWithKeys(instance, "developer", 1);
  let service = await startService(instance);
  const log = prefixedEventStore(double.store, servers.environment.EVENTSTORE_PREFIX);
  const links = Array.from({ length: 20 }, (_, n) => ({ url: `https://example.com/${n}` }));
  const slugs: string[] = [];
  let answer = "";
  // Again after a 503, as callers do: two services and their servers start together here, on a busy machine.
  const create = async () => {
    const response = await fetch(`${service.url}/api/v1/shorten/bulk`, {
      method: "POST",
      headers: { "x-api-key": keys[0] ?? "", "content-type": "application/json" },
      body: JSON.stringify({ links }),
    });
    answer = `${response.status} ${await response.text()}`;
    if (response.status === 201) {
      const { results } = JSON.parse(answer.slice(4)) as { results: { slug: string }[] };
      slugs.push(...results.map(({ slug }) => slug));
    }
    return response.status !== 503;
  };
  await until(() => `the links, not ${answer}`, create, SELDOM);
  expect(slugs.length, answer).toBeGreaterThan(0);

  // Not fetch, which times out after ten seconds when the machine is busy.
  const get = (path: string) => send<unknown>(Number(instance.PORT), path, {});
  async function metric(name: string): Promise<number> {
    const { text } = await get("/metrics");
    const line = text.split("\n").find((one) => one.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? Number.NaN);
  }
  const health = async () => (await get("/health/ready")).body as Health;

  // A restarted process must find the links in its documents.
  const lag = () => metric(`linkledger_projection_lag_seconds{projection="lifecycle"}`);
  await until("the links' documents", async () => (await lag()) === 0, SELDOM);
  return {
    durability,
    double,
    get,
    metric,
    health,
    load: (name: string, perSecond = FEW) => startRedirectLoad(`${name}.`, service.url, slugs, perSecond),
    /** Resolves when no click waits in memory or in the journal. */
    async emptied(): Promise<void> {
      for (const name of ["clicks_waiting", "journal_clicks"])
        await until(`no ${name}`, async () => (await metric(`linkledger_${name}`)) === 0, SELDOM);
    },
    reckon: (what: string, loads: readonly RedirectLoad[]) =>
      reckonClicks(`${what}, ${durability} clicks`, loads, log),
    kill: () => service.stop("SIGKILL"),
    async startAgain() {
      service = await startService(instance);
      // On a busy machine the recorder's thread takes more than a durable redirect waits until it has loaded.
      await until("the first redirect", async () => (await get(`/${slugs[0]}`)).status === 301);
    },
    async close() {
      await service.stop();
      await double.close();
      await servers.stop();
      await folder.remove();
    },
  };
}

type Scene = Awaited<ReturnType<typeof openScene>>;
type Health = { status: string; degraded?: { part: string; reason: string }[] };

/** Ends the load: no redirect of it failed, and each of its clicks is in the log once when none waits any more. */
async function expectCountedOnce(scene: Scene, what: string, redirects: RedirectLoad): Promise<void> {
  await redirects.stop();
  await scene.emptied();
  expect(await scene.reckon(what, [redirects])).toMatchObject({ failed: 0, lost: 0, doubled: 0 });
}

onOwnServers(() =>
  describe("redirects while EventStoreDB is unavailable, batched clicks and durable ones", () => {
    let scenes: Scene[] = [];
    beforeAll(async () => {
      scenes = await Promise.all(DURABILITIES.map(openScene));
    }, LIMIT_MS);
    afterEach(() => Promise.all(scenes.map(({ double }) => double.wire.open().catch(() => undefined))));
    afterAll(() => Promise.all(scenes.map((scene) => scene.close())), LIMIT_MS);

    /** Both durabilities concurrently, because the tests mostly wait. */
    const both = (name: string, play: (scene: Scene) => Promise<void>) =>
      it(name, async () => void (await Promise.all(scenes.map(play))), LIMIT_MS);

    both(
      "continue while its connections are refused: none fails, no click is lost or duplicated",
      async (scene) => {
        const { get, metric, health, load, double } = scene;
        const redirects = load("refused", PER_SECOND);
        await redirects.answeredMore(100);
        await double.wire.close();
        await redirects.answeredMore(MANY);
        expect(await metric("linkledger_journal_clicks")).toBeGreaterThan(0);
        expect(await metric("linkledger_journal_bytes")).toBeGreaterThan(0);

        expect((await get("/health/ready")).status).toBe(200);
        expect(await health()).toMatchObject({
          status: "degraded",
          degraded: expect.arrayContaining([expect.objectContaining({ part: "click journal" })]),
        });
        await redirects.answeredMore(MANY);
        await double.wire.open();
        await redirects.answeredMore(100);
        await expectCountedOnce(scene, "EventStoreDB unavailable", redirects);
      },
    );

    both("are counted once although answers get lost at the edges of outages", async (scene) => {
      const { load, double } = scene;
      const redirects = load("edges");
      await redirects.answeredMore(100);
      for (let outage = 0; outage < effort(1, 3); outage++) {
        double.script.add("append", { kind: "drop", commit: true }, { kind: "drop", commit: true });
        await double.script.seen("append", double.script.counts.append + 2);
        await double.wire.close();
        await redirects.answeredMore(100);
        double.script.add("append", { kind: "drop", commit: true }, { kind: "drop", commit: false });
        await double.wire.open();
        await redirects.answeredMore(100);
      }
      await expectCountedOnce(scene, "answers lost before and after outages", redirects);
    });

    both("don't notice a store that takes appends and never answers", async (scene) => {
      const { load, double } = scene;
      const redirects = load("silent");
      await redirects.answeredMore(100);
      double.script.add("append", { kind: "silent", commit: true }, { kind: "silent", commit: false });
      await double.script.seen("append", double.script.counts.append + 2);
      await redirects.answeredMore(MANY / 2);
      await expectCountedOnce(scene, "appends never answered", redirects);
    });

    both("keep their clicks through a kill -9 during the outage", async (scene) => {
      const { metric, load, emptied, reckon, double } = scene;
      const before = load("before");
      await before.answeredMore(150);
      await double.wire.close();
      await before.answeredMore(150);
      const killed = scene.kill();
      await Promise.all([killed, before.stop()]);
      await scene.startAgain();
      const after = load("after");
      await after.answeredMore(100);
      await after.stop();
      expect(await metric("linkledger_journal_clicks")).toBeGreaterThan(200);
      await double.wire.open();
      await emptied();
      const counts = await reckon("kill -9 during the outage", [before, after]);
      expect([...after.failed.values()]).toEqual([]);
      expect(counts.doubled).toBe(0);
      if (scene.durability === "durable") expect(counts.lost).toBe(0);
      const lostAt = counts.lostAnsweredAt;
      expect(Math.max(0, Math.max(...lostAt) - Math.min(...lostAt))).toBeLessThan(
        stretched(MOST_UNSTORED.ms),
      );
    });
  }),
);
