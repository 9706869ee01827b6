// A service on servers of which one, or both, are lost under load and put back from copies, as docs/operations.md says and
// as it warns: no number is wrong afterwards, and no webhook is forgotten, or sent again that was sent before the copy.

import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { type Document as BsonDocument, type Db, MongoClient } from "mongodb";
import { afterEach, beforeEach, describe, expect, it, onTestFailed } from "vitest";
import { changeWebhook } from "../../src/commands/webhooks/change-webhooks.ts";
import { CATEGORY } from "../../src/events/streams.ts";
import { type Cluster, type RoleProcess, startCluster } from "../support/cluster/cluster.ts";
import { onOwnServers } from "../support/cluster/own-servers.ts";
import { operator } from "../support/commands/command-deps.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { FIREFOX } from "../support/portal/browser-like.ts";
import { isLong } from "../support/runtime/effort.ts";
import { until } from "../support/runtime/until.ts";
import { webhookDeps, webhookOf } from "../support/webhooks/webhook-of.ts";
import { type Receiver, startReceiver } from "../support/webhooks/webhook-receiver.ts";

const PATIENT_MS = 300_000;
const VISIT_EVERY_MS = 100;
const LINK_EVERY_MS = 500;
/** So that a commit comes every few collections. */
const BETWEEN_COLLECTIONS_MS = 150;
const SELDOM = { everyMs: 250, withinMs: 120_000 };
/** Deliveries before the copy is begun, and after it has ended. */
const BEFORE_AND_AFTER = 20;
const FOLDABLE = /^docs_/;

/** By collection; and how many events the log had before. */
type Copy = { collections: Map<string, BsonDocument[]>; events: number; delivered: Set<string> };
type Lost = { mongodb?: "dump" | "everything"; log?: true };

const DRILLS: [name: string, lost: Lost, isLengthy?: boolean][] = [
  ["MongoDB alone was lost, and everything of it put back from a careless dump", { mongodb: "everything" }],
  ["both were lost, and put back", { mongodb: "dump", log: true }],
  ["MongoDB alone was lost, and put back", { mongodb: "dump" }, true],
  ["the event store alone was lost, and put back", { log: true }, true],
  ["both were lost, and MongoDB put back from a careless dump", { mongodb: "everything", log: true }, true],
];

onOwnServers(() => {
  describe.skipIf(process.env.EVENTSTORE_URL)("a service whose servers were put back from copies", () => {
    let cluster: Cluster;
    let client: MongoClient;
    let db: Db;
    let service: RoleProcess;
    let account: { accountId: string; key: string };
    let receiver: Receiver;
    let slugs: string[] = [];
    /** Of the log, before the webhook was there. */
    let since: number;

    const start = async () => {
      service = await cluster.start("redirect,api,portal,projector,webhooks", {
        WEBHOOK_ALLOW_PRIVATE: "true",
        RATE_LIMIT_DEVELOPER: "100000",
      });
    };

    // Afresh, as the MongoDB-compatible server gets slower with all that it ever held.
    beforeEach(async () => {
      slugs = [];
      cluster = await startCluster();
      client = new MongoClient(cluster.environment.MONGODB_URL as string);
      db = client.db();
      await start();
      await service.ready();
      account = await cluster.member("developer");
    }, PATIENT_MS);
    afterEach(async () => {
      await client?.close();
      await cluster?.stop();
    }, PATIENT_MS);

    const make = async () => {
      const request = { method: "POST", key: account.key, body: { url: "https://example.com/" } };
      const { status, body } = await service.ask<{ slug: string }>("/api/v1/shorten", request);
      expect([status, body]).toEqual([201, expect.anything()]);
      slugs.push(body.slug);
    };
    const visit = async (n: number) => {
      const headers = { "user-agent": FIREFOX };
      const { status } = await service.ask(`/${slugs[n % slugs.length]}`, { headers });
      expect(status).toBe(301);
    };
    /** Clicks, new links and thereby deliveries, for as long as the work lasts. */
    const underLoad = async <T>(work: () => Promise<T>): Promise<T> => {
      let isOver = false;
      const load = async (everyMs: number, one: (n: number) => Promise<void>) => {
        for (let n = 0; !isOver; n++) await Promise.all([one(n), pause(everyMs)]);
      };
      const working = work().finally(() => {
        isOver = true;
      });
      const [result] = await Promise.all([working, load(LINK_EVERY_MS, make), load(VISIT_EVERY_MS, visit)]);
      return result;
    };

    const deliveryIds = async (state?: "delivered") => {
      const deliveries = await db
        .collection("deliveries")
        .find(state ? { state } : { state: { $exists: true } })
        .project<{ eventId: string }>({ eventId: 1 })
        .toArray();
      return new Set(deliveries.map(({ eventId }) => eventId));
    };
    /** The log first, then collection by collection, in any order. */
    const copied = async (): Promise<Copy> => {
      const events = cluster.events?.log.events.length ?? 0;
      const delivered = await deliveryIds("delivered");
      const names = (await db.listCollections().toArray()).map(({ name }) => name);
      const collections = new Map<string, BsonDocument[]>();
      const [order = []] = fc.sample(fc.shuffledSubarray(names, { minLength: names.length }), 1);
      for (const name of order) {
        collections.set(name, await db.collection(name).find().toArray());
        await pause(BETWEEN_COLLECTIONS_MS);
      }
      return { collections, events, delivered };
    };
    const lose = async ({ mongodb, log }: Lost, { collections, events }: Copy) => {
      if (log) cluster.events?.log.putBack(events);
      if (!mongodb) return;
      await db.dropDatabase();
      for (const [name, documents] of collections)
        if (documents.length > 0 && (mongodb === "everything" || !FOLDABLE.test(name)))
          await db.collection(name).insertMany(documents);
    };

    const logged = async () => {
      const categories = [CATEGORY.link, CATEGORY.clicks];
      return await loggedEvents(cluster.backend.eventStore, { categories, limit: 1_000_000 });
    };
    const received = () => {
      const times = new Map<string, number>();
      for (const { headers } of receiver.received) {
        const id = String(headers["webhook-id"]);
        times.set(id, (times.get(id) ?? 0) + 1);
      }
      return times;
    };
    const isAllRight = async () => {
      await service.ready();
      let health = "";
      const isWhole = async () => {
        const answer = await service.ask<{ status: string }>("/health/ready");
        health = answer.text;
        return answer.body.status === "ready";
      };
      await until(() => `no part to be degraded: ${health}`, isWhole, SELDOM);
      const events = await logged();
      let unsent: string[] = [];
      const isSent = () => {
        const sent = received();
        unsent = events.slice(since).flatMap(({ id, type }) => (sent.has(id) ? [] : type));
        return unsent.length === 0;
      };
      await until(() => `${unsent.length} of ${events.length - since} events to be sent`, isSent, SELDOM);
      const verified = await cluster.command<{ ok: boolean; differences: object[] }>("projections", "verify");
      expect(verified).toMatchObject({ ok: true, differences: [] });
      const clicks = events.filter(({ type }) => type === "LinkClicked");
      const { body } = await service.ask<{ totals: { people: number } }>("/api/v1/analytics", {
        key: account.key,
      });
      expect(body.totals.people).toBe(clicks.length);
      const made = events.filter(({ type }) => type === "LinkCreated").length;
      const { body: list } = await service.ask<{ total: number }>("/api/v1/links", { key: account.key });
      expect(list.total).toBe(made);
    };

    it.each(DRILLS.filter(([, , isLengthy]) => isLong || !isLengthy))(
      "has no wrong number and forgets no webhook after %s",
      async (_, lost) => {
        receiver = await startReceiver();
        const deps = webhookDeps(cluster.backend);
        const { accountId } = account;
        const { webhookId } = await webhookOf(cluster.backend, accountId, receiver.port);
        const events = ["link.clicked", "link.created"];
        await changeWebhook(deps, operator, accountId, webhookId, { events });
        since = (await logged()).length;
        await make();
        const copy = await underLoad(async () => {
          await until("deliveries", () => receiver.received.length > BEFORE_AND_AFTER);
          const made = await copied();
          const then = receiver.received.length;
          await until("deliveries after it", () => receiver.received.length > then + BEFORE_AND_AFTER);
          return made;
        });
        onTestFailed(() => {
          process.stderr.write(`copied in the order ${[...copy.collections.keys()]}\n`);
        });
        await service.end();
        await lose(lost, copy);
        await start();
        await isAllRight();
        if (lost.mongodb === "everything")
          expect(service.printed()).toMatch(/put back from a copy of several moments|another log/);
        const times = received();
        expect([...copy.delivered].filter((id) => (times.get(id) ?? 0) > 1)).toEqual([]);
      },
      PATIENT_MS,
    );
  });
});
