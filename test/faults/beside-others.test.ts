// A log of ours in an event store where others write far more: theirs are neither read nor looked through again and again.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, type RoleProcess, startCluster } from "../support/cluster/cluster.ts";
import { onOwnServers } from "../support/cluster/own-servers.ts";
import type { EventStoreDbDouble } from "../support/event-store/eventstoredb-double/double.ts";
import { lookedThrough } from "../support/event-store/eventstoredb-double/read.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { effort } from "../support/runtime/effort.ts";
import { printCounts } from "../support/runtime/print-counts.ts";
import { until } from "../support/runtime/until.ts";

/** Before ours, and as many again while a service runs. */
const OTHERS = effort(3_000, 30_000);
const LINKS = 20;
const VISITS = 40;
const LIMIT_MS = 180_000;

onOwnServers(() =>
  describe.skipIf(process.env.EVENTSTORE_URL)("a log among events of others", { timeout: LIMIT_MS }, () => {
    let cluster: Cluster;
    let double: EventStoreDbDouble;
    let service: RoleProcess;
    let key: string;
    const slugs: string[] = [];
    let madeAt: string;
    let timesUntilReady: number;

    beforeAll(async () => {
      cluster = await startCluster(
        {},
        { beforeLog: (events) => (events as EventStoreDbDouble).log.others.write(OTHERS) },
      );
      double = cluster.events as EventStoreDbDouble;
      const starting = ["first", "second"].map(() => cluster.start("redirect,api,projector,webhooks"));
      const services = await Promise.all(starting);
      await Promise.all(services.map((started) => started.ready()));
      const [first, second] = services as [RoleProcess, RoleProcess];
      timesUntilReady = lookedThrough(double.looks) / double.log.events.length;
      await second.end("SIGTERM");
      service = first;
      ({ key } = await cluster.member("developer"));
      for (let n = 0; n < LINKS; n += 1) {
        const body = { url: `https://example.com/${n}` };
        const { body: link } = await service.ask<{ slug: string }>("/api/v1/shorten", {
          method: "POST",
          key,
          body,
        });
        slugs.push(link.slug);
        expect((await service.ask(`/${link.slug}`)).status).toBe(301);
      }
      await until("the clicks to be counted", async () => {
        const { body } = await service.ask<{ totals?: { people: number; preview: number } }>(
          "/api/v1/analytics",
          { key },
        );
        return body.totals !== undefined && body.totals.people + body.totals.preview === LINKS;
      });
      madeAt = new Date().toISOString();
      double.log.others.write(OTHERS);
      await cluster.command("audit", "seal");
    }, LIMIT_MS);
    afterAll(() => cluster?.stop(), LIMIT_MS);

    /**
     * `times`: how often the log's length was looked through, and `ownTimes` by readers that began meanwhile, as a command
     * does. `own`: how often the number of our events was handed out.
     */
    async function counted(what: string, work: () => Promise<unknown>) {
      const [before, looks] = [lookedThrough(double.looks), handedOut()];
      const known = new Set(double.looks.map(({ reader }) => reader));
      await work();
      const byNew = lookedThrough(double.looks.filter(({ reader }) => !known.has(reader)));
      const { events } = double.log;
      const ours = events.filter(({ stream }) =>
        stream.startsWith(cluster.environment.EVENTSTORE_PREFIX ?? ""),
      );
      const counts = { looked: lookedThrough(double.looks) - before, "handed out": handedOut() - looks };
      printCounts(what, { ...counts, "in the log": events.length, ours: ours.length });
      const [times, ownTimes] = [counts.looked / events.length, byNew / events.length];
      return { times, ownTimes, own: counts["handed out"] / ours.length };
    }
    /** Events of the log with its clicks, by client. */
    function clicksHandedOut(): Map<string, number> {
      const handed = new Map<string, number>();
      for (const { reader, filter, handedOut } of double.looks)
        if (filter.includes("clicks")) handed.set(reader, (handed.get(reader) ?? 0) + handedOut);
      return handed;
    }
    const handedOut = () => double.looks.reduce((sum, look) => sum + look.handedOut, 0);
    const asked = (path: string) => async () => {
      const answer = await service.ask(path, { key });
      expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    };

    it("is looked through twice at most until two services that are started on it are ready", () => {
      expect(timesUntilReady).toBeLessThanOrEqual(2);
    });

    it("is looked through once at most by a command, which goes on where the documents are", async () => {
      const create = () => cluster.command("account", "create", "--email", "another@example.com");
      expect((await counted("account create", create)).ownTimes).toBeLessThan(1);
    });

    it.each([
      ["audit verify", ["audit", "verify"]],
      ["explain --verify", ["explain", "SLUG", "--verify"]],
    ])("is read by %s without the others' events", async (what, words) => {
      const command = words.map((word) => (word === "SLUG" ? (slugs[0] as string) : word));
      const { ownTimes, own } = await counted(what, () => cluster.command(...command));
      // Its events, its seals, and what was done to its streams.
      expect(ownTimes).toBeLessThan(4);
      expect(own).toBeLessThan(2);
    });

    it.each([
      ["clicks", "/api/v1/clicks?limit=50"],
      ["a list", "/api/v1/links?limit=50"],
      ["numbers as of a moment", `/api/v1/analytics/SLUG/range?as_of=MADE`],
    ])("is read for %s without the others' events", async (what, path) => {
      const { times, own } = await counted(
        what,
        asked(path.replace("SLUG", slugs[0] as string).replace("MADE", madeAt)),
      );
      // The service's followers may pass the others' newest events meanwhile.
      expect(times).toBeLessThan(4);
      expect(own).toBeLessThan(1);
    });

    it("hands a process each click once, that folds, seals and routes it", async () => {
      const { accountId, key: own } = await cluster.member("developer");
      await cluster.command("webhook", "add", "--account", accountId, "--url", "https://example.com/hook");
      const body = { url: "https://example.com/once" };
      const shorten = { method: "POST", key: own, body };
      const { slug } = (await service.ask<{ slug: string }>("/api/v1/shorten", shorten)).body;
      const { readStore, deliveryQueue } = cluster.backend;
      const categories = [`${cluster.environment.EVENTSTORE_PREFIX}clicks`];
      const clicks = () => loggedEvents(double.store, { categories, limit: 10_000 });
      const visit = async (times: number) => {
        for (let n = 0; n < times; n += 1) expect((await service.ask(`/${slug}`)).status).toBe(301);
        visited += times;
        await until("the clicks to be stored", async () => (await clicks()).length >= visited);
        const last = (await clicks()).at(-1)?.position ?? "";
        await until("the clicks to be folded and routed", async () => {
          const folded = (await readStore.checkpoint("clicks"))?.position ?? "";
          return folded >= last && ((await deliveryQueue.routed())?.position ?? "") >= last;
        });
      };
      let visited = LINKS;
      await visit(5);
      const before = clicksHandedOut();
      await visit(VISITS);
      const handed = [...clicksHandedOut()].map(([reader, count]) => count - (before.get(reader) ?? 0));
      // And what was appended besides.
      expect(Math.max(...handed)).toBeLessThan(1.5 * VISITS);
      expect(Math.max(...handed)).toBeGreaterThanOrEqual(VISITS);
    });
  }),
);
