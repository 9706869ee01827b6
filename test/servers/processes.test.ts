// Several processes on one set of servers: what one does, the others know at once; what one leaves, another takes over.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deactivateKey } from "../../src/commands/account/change-keys.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { openEventStoreDb } from "../../src/stores/event-store/eventstoredb/event-store.ts";
import { prefixedEventStore } from "../../src/stores/event-store/prefixed-event-store.ts";
import { type Cluster, type RoleProcess, startCluster } from "../support/cluster/cluster.ts";
import { operator } from "../support/commands/command-deps.ts";
import { printCounts } from "../support/runtime/print-counts.ts";
import { stretched } from "../support/runtime/slowness.ts";
import { until } from "../support/runtime/until.ts";
import { mongodb } from "../support/servers/mongodb-server.ts";
import { redis } from "../support/servers/redis-server.ts";
import { onServer } from "../support/servers/test-servers.ts";

const WITHIN_MS = 1_000;
const TAKE_OVER_WITHIN_MS = 5_000;

onServer(mongodb, () =>
  onServer(redis, () => {
    describe("processes by role, on the same servers", { timeout: 120_000 }, () => {
      let cluster: Cluster;
      let a: RoleProcess;
      let b: RoleProcess;
      let projector: RoleProcess;
      let member: { accountId: string; keyId: string; key: string };

      beforeAll(async () => {
        cluster = await startCluster();
        [a, b, projector] = await Promise.all([
          cluster.start("api,redirect"),
          cluster.start("api,redirect"),
          cluster.start("projector"),
        ]);
        await Promise.all([a.ready(), b.ready(), projector.ready()]);
        member = await cluster.member("developer");
      }, 400_000);
      afterAll(() => cluster?.stop(), 60_000);

      const shorten = async (at: RoleProcess, body: object = {}) => {
        const given = { method: "POST", key: member.key, body: { url: "https://example.com/", ...body } };
        const answer = await at.ask<{ slug: string }>("/api/v1/shorten", given);
        expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
        return answer.body.slug;
      };

      it("redirect a link in one the moment another has answered 201", async () => {
        const late: string[] = [];
        for (let n = 0; n < 20; n++) {
          const slug = await shorten(a);
          if ((await b.ask(`/${slug}`)).status !== 301) late.push(slug);
        }
        expect(late).toEqual([]);
      });

      it("redirect it also where its absence was remembered", async () => {
        await cluster.command("domain", "add", "--account", member.accountId, "go.example.com");
        const domain = await cluster.command<{ domain_id: string }>(
          ...["domain", "verify", "--account", member.accountId, "go.example.com", "--skip-dns"],
        );
        const host = "go.example.com";
        const late: string[] = [];
        for (let n = 0; n < 10; n++) {
          const customSlug = `spring-${n}`;
          expect((await b.ask(`/${customSlug}`, { host })).status).toBe(404);
          await shorten(a, { customSlug, domain_id: domain.domain_id });
          if ((await b.ask(`/${customSlug}`, { host })).status !== 301) late.push(customSlug);
        }
        expect(late).toEqual([]);
        await cluster.command("domain", "deactivate", domain.domain_id);
        const told = performance.now();
        for (const node of [a, b])
          await until("404", async () => (await node.ask("/spring-1", { host })).status === 404);
        expect(performance.now() - told).toBeLessThan(stretched(WITHIN_MS));
      });

      it("refuse in one a key that was deactivated in another within a second, though nobody projects", async () => {
        const other = await cluster.member("free");
        const ask = async (node: RoleProcess) => (await node.ask("/api/v1/links", { key: other.key })).status;
        for (const node of [a, b]) expect(await ask(node)).toBe(200);
        projector.child.kill("SIGSTOP");
        try {
          // The event alone: a command would wait for the projector.
          const { EVENTSTORE_URL = "", EVENTSTORE_PREFIX = "" } = cluster.environment;
          const eventStore = prefixedEventStore(await openEventStoreDb(EVENTSTORE_URL), EVENTSTORE_PREFIX);
          await deactivateKey({ ...runtimeDeps, eventStore }, operator, other.accountId, other.keyId);
          const deactivated = performance.now();
          await eventStore.close();
          for (const node of [a, b]) await until("401", async () => (await ask(node)) === 401);
          expect(performance.now() - deactivated).toBeLessThan(stretched(WITHIN_MS));
        } finally {
          projector.child.kill("SIGCONT");
        }
      });

      it("count every click of both, and one projector takes over from another within five seconds", async () => {
        const standby = await cluster.start("projector");
        await standby.ready();
        const slug = await shorten(a);
        const counted = async () => {
          type Analytics = { analytics: { totalClicks: number } };
          const answer = await b.ask<Analytics>(`/api/v1/analytics/${slug}`, { key: member.key });
          return answer.body.analytics?.totalClicks;
        };
        const visit = async (count: number) => {
          for (let n = 0; n < count; n++) expect((await (n % 2 ? a : b).ask(`/${slug}`)).status).toBe(301);
        };
        await visit(20);
        await until("20 clicks", async () => (await counted()) === 20);
        await projector.end("SIGKILL");
        const killed = performance.now();
        await visit(1);
        await until("21 clicks", async () => (await counted()) === 21);
        const takeOverMs = Math.round(performance.now() - killed);
        printCounts("projector take-over", { takeOverMs, clicks: 21 });
        expect(takeOverMs).toBeLessThan(stretched(TAKE_OVER_WITHIN_MS));
      });
    });
  }),
);
