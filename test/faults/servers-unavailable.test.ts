// Each server of a cluster killed under load: what continues, what is reported, and the recovery without a restart.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deactivateKey } from "../../src/commands/account/change-keys.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { linkKey } from "../../src/events/streams.ts";
import { type LinkTotalsDocument, linkTotals } from "../../src/projections/definitions/link-totals.ts";
import { type Cluster, type RoleProcess, startCluster } from "../support/cluster/cluster.ts";
import { operator } from "../support/commands/command-deps.ts";
import { FIREFOX } from "../support/portal/browser-like.ts";
import { printCounts } from "../support/runtime/print-counts.ts";
import { stretched } from "../support/runtime/slowness.ts";
import { until } from "../support/runtime/until.ts";
import { mongodb, mongodbIsOurs } from "../support/servers/mongodb-server.ts";
import { redis, redisIsOurs } from "../support/servers/redis-server.ts";
import { onServer } from "../support/servers/test-servers.ts";

const VISITS = 200;
/** Only servers that this run has started may be killed. */
const isOurs = mongodbIsOurs && redisIsOurs && !process.env.EVENTSTORE_URL;
const PATIENT_MS = 400_000;

onServer(mongodb, () =>
  onServer(redis, () => {
    describe.skipIf(!isOurs)("while a server is unavailable", () => {
      let cluster: Cluster;
      let a: RoleProcess;
      let b: RoleProcess;
      let key: string;
      let cached: string;
      let visits = 0;

      beforeAll(async () => {
        cluster = await startCluster();
        [a, b] = await Promise.all([cluster.start("api,redirect,projector"), cluster.start("api,redirect")]);
        await Promise.all([a.ready(), b.ready()]);
        key = (await cluster.member("developer")).key;
        cached = await slugOf(a);
        for (const node of [a, b]) await visit(node, cached);
      }, PATIENT_MS);
      afterAll(() => cluster?.stop(), PATIENT_MS);

      const shorten = (node: RoleProcess, fields: object = {}) =>
        node.ask<{ slug: string; code: string }>("/api/v1/shorten", {
          method: "POST",
          key,
          body: { url: "https://example.com/", ...fields },
        });
      const slugOf = async (node: RoleProcess, fields: object = {}) => {
        const answer = await shorten(node, fields);
        expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
        return answer.body.slug;
      };
      const visit = async (node: RoleProcess, slug: string) => {
        const { status } = await node.ask(`/${slug}`);
        if (slug === cached && status === 301) visits += 1;
        return status;
      };
      /** Number of visits that were not redirected. */
      const visitMany = async () => {
        const statuses: number[] = [];
        for (let n = 0; n < VISITS; n += 10)
          statuses.push(
            ...(await Promise.all(Array.from({ length: 10 }, (_, i) => visit(i % 2 ? a : b, cached)))),
          );
        return statuses.filter((status) => status !== 301).length;
      };
      const counted = async () => {
        const answer = await b.ask<{ analytics?: { totalClicks: number } }>(`/api/v1/analytics/${cached}`, {
          key,
        });
        return answer.body.analytics?.totalClicks;
      };
      /** Reads the documents: polling the API would use up the hour's rate limit. */
      const inDocuments = async (slug = cached) => {
        const totals = cluster.backend.readStore.get<LinkTotalsDocument>(
          linkTotals.name,
          linkKey(cluster.config.baseHost, slug),
        );
        return (await totals.catch(() => undefined))?.totalClicks;
      };
      const readiness = async (node: RoleProcess) => {
        const { status, body } = await node.ask<{ reasons: Parts; degraded?: Parts }>("/health/ready");
        const parts = (of: Parts = []) => of.map(({ part }) => part);
        return { status, reasons: parts(body.reasons), degraded: parts(body.degraded) };
      };
      type Parts = { part: string }[];
      const redisUp = async () => /^linkledger_redis_up (\d)/m.exec((await b.ask("/metrics")).text)?.[1];
      const allRight = async () => {
        await Promise.all([a.ready(), b.ready()]);
        let seen: number | undefined;
        const all = async () => {
          seen = await inDocuments();
          return seen === visits;
        };
        await until("every click to be counted", all).catch((error: Error) => {
          throw new Error(`${error.message}: ${seen} of ${visits}`);
        });
        // The tables of clicks are written after the totals.
        await expect.poll(counted, { interval: 200 }).toBe(visits);
      };

      it(
        "Redis: redirects and requests continue, limits are counted, a deactivated key is refused; and it comes back by itself",
        async () => {
          const other = await cluster.member("free");
          const links = (node: RoleProcess) => node.ask("/api/v1/links", { key: other.key });
          for (const node of [a, b]) expect((await links(node)).status).toBe(200);
          const limited = await slugOf(a, { max_clicks: 3 });
          const person = async (node: RoleProcess) =>
            (await node.ask(`/${limited}`, { headers: { "user-agent": FIREFOX } })).status;
          expect([await person(a), await person(b)]).toEqual([302, 302]);
          await until("both to be counted", async () => (await inDocuments(limited)) === 2);
          await cluster.redis.process?.kill();
          const failed = await visitMany();
          const fresh = await slugOf(a);
          expect([await visit(b, fresh), failed]).toEqual([301, 0]);
          expect(await person(a)).toBe(302);
          await until("the third to be counted", async () => (await inDocuments(limited)) === 3);
          expect([await person(a), await person(b)]).toEqual([404, 404]);
          await until("degraded", async () => (await readiness(b)).degraded.includes("redis"));
          expect(await readiness(b)).toMatchObject({ status: 200, reasons: [] });
          expect(await redisUp()).toBe("0");
          const remaining = Number((await links(b)).headers["x-ratelimit-remaining"]);
          expect(Number((await links(b)).headers["x-ratelimit-remaining"])).toBe(remaining - 1);

          const { eventStore } = cluster.backend;
          await deactivateKey({ ...runtimeDeps, eventStore }, operator, other.accountId, other.keyId);
          const since = performance.now();
          for (const node of [a, b]) await until("401", async () => (await links(node)).status === 401);
          expect(performance.now() - since).toBeLessThan(stretched(1_000));

          await cluster.redis.process?.start();
          await until("Redis to be back", async () => (await redisUp()) === "1");
          await until("not degraded", async () => !(await readiness(b)).degraded.includes("redis"));
          expect([await person(a), await person(b)]).toEqual([404, 404]);
          await allRight();
          printCounts("Redis killed", { redirects: VISITS, failed, clicks: visits });
        },
        PATIENT_MS,
      );

      it(
        "MongoDB: cached links and, by their streams, all others redirect; the API answers 503; and it recovers by itself",
        async () => {
          const uncached = await slugOf(a);
          await cluster.redis.process?.kill();
          await cluster.mongodb.process?.kill();
          const failed = await visitMany();
          expect([await visit(b, uncached), failed]).toEqual([301, 0]);
          expect(await visit(b, "nosuchlink")).toBe(404);
          for (const answer of [await shorten(b), await b.ask<{ code: string }>("/api/v1/links", { key })]) {
            expect([answer.status, answer.body.code]).toEqual([503, "store_unavailable"]);
            expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
          }
          await until("503", async () => (await readiness(b)).status === 503);
          expect(await readiness(b)).toMatchObject({ status: 503, reasons: ["read store"] });
          expect([a.child.exitCode, b.child.exitCode]).toEqual([null, null]);
          await cluster.mongodb.process?.start();
          await cluster.redis.process?.start();
          await allRight();
          expect(await visit(a, await slugOf(b))).toBe(301);
          printCounts("MongoDB killed", { redirects: VISITS, failed, clicks: visits });
        },
        PATIENT_MS,
      );

      it(
        "EventStoreDB: redirects continue and their clicks wait, writes answer 503; and it recovers by itself",
        async () => {
          await cluster.events?.wire.close();
          const failed = await visitMany();
          expect(failed).toBe(0);
          const answer = await shorten(b);
          expect([answer.status, answer.body.code]).toEqual([503, "store_unavailable"]);
          expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
          expect((await b.ask("/api/v1/links", { key })).status).toBe(200);
          await cluster.events?.wire.open();
          await allRight();
          expect(await visit(a, await slugOf(b))).toBe(301);
          printCounts("EventStoreDB unavailable", { redirects: VISITS, failed, clicks: visits });
        },
        PATIENT_MS,
      );

      it(
        "at the start: it listens, reports what it waits for, and is ready once they are available",
        async () => {
          await cluster.mongodb.process?.kill();
          await cluster.events?.wire.close();
          const late = await cluster.start("api,redirect", { LOG_LEVEL: "info" });
          await until("both lines", async () =>
            /waiting for the event store.*waiting for the read store|waiting for the read store.*waiting for the event store/s.test(
              late.printed(),
            ),
          );
          // Stores are checked independently, so the two reasons need not be in one answer.
          const { status, reasons } = await readiness(late);
          expect(status).toBe(503);
          expect(reasons.length).toBeGreaterThan(0);
          expect((await late.ask("/health/live")).status).toBe(200);
          await cluster.mongodb.process?.start();
          await cluster.events?.wire.open();
          await late.ready();
          expect(await visit(late, cached)).toBe(301);
          // Reported at the store's next check, shortly after /health/ready has noticed.
          await until("the line", async () => /the read store answers/.test(late.printed()));
          await allRight();
        },
        PATIENT_MS,
      );
    });
  }),
);
