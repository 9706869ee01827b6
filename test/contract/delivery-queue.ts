// What a delivery queue promises: one delivery an identity, one worker a claim, every try on record.
import { beforeAll, describe, expect, it } from "vitest";
import { type Attempt, type DeliveryQueue, deliveryId, type NewDelivery } from "../../src/webhooks/queue.ts";

/** Two handles, as two processes would have. */
export type DeliveryQueueFixture = { queue: DeliveryQueue; other: DeliveryQueue; close(): Promise<void> };

/** `atomicUpdates`: some servers that only speak MongoDB's protocol lose one of two updates that meet. */
export type DeliveryQueueTraits = { atomicUpdates: boolean };

const START = Date.parse("2026-03-01T12:00:00.000Z");
const at = (seconds: number) => new Date(START + seconds * 1000).toISOString();
const NOW = at(0);

export function deliveryQueueContract(
  name: string,
  open: () => Promise<DeliveryQueueFixture>,
  traits: DeliveryQueueTraits = { atomicUpdates: true },
): void {
  describe(`delivery queue: ${name}`, () => {
    let queue: DeliveryQueue;
    let other: DeliveryQueue;
    beforeAll(async () => {
      const fixture = await open();
      ({ queue, other } = fixture);
      return () => fixture.close();
    });
    const newWebhook = () => crypto.randomUUID();
    const claim = (webhookId: string, now = NOW, limit = 10, by = queue) =>
      by.claim({ webhookId, token: crypto.randomUUID(), now, until: after(now, 60), limit });
    const queued = async (webhookId: string, ...eventIds: string[]) => {
      await queue.enqueue(
        eventIds.map((eventId) => delivery(webhookId, eventId)),
        NOW,
      );
    };
    const claimOne = async (webhookId: string, now = NOW) => {
      const [claimed] = await claim(webhookId, now, 1);
      if (!claimed) throw new Error("nothing to claim");
      return claimed;
    };

    it("keeps one delivery for each webhook and event, however often it is queued", async () => {
      const hook = newWebhook();
      expect(await queue.enqueue([delivery(hook, "e1"), delivery(hook, "e2")], NOW)).toBe(2);
      const later = { ...delivery(hook, "e1"), body: "another" };
      expect(await other.enqueue([later, delivery(hook, "e3"), delivery(hook, "e2")], at(5))).toBe(1);
      expect((await queue.list({ webhookId: hook, limit: 10 })).map((each) => each.eventId).sort()).toEqual([
        "e1",
        "e2",
        "e3",
      ]);
      expect((await queue.get(deliveryId(hook, "e1")))?.body).toBe(delivery(hook, "e1").body);
    });

    it("queues each once when two processes queue the same 200 at once", async () => {
      const hook = newWebhook();
      const batch = Array.from({ length: 200 }, (_, n) => delivery(hook, `e${n}`));
      const added = await Promise.all([queue.enqueue(batch, NOW), other.enqueue(batch, NOW)]);
      expect(added[0] + added[1]).toBe(200);
      expect(await queue.list({ webhookId: hook, limit: 500 })).toHaveLength(200);
    });

    it("gives the body back byte for byte", async () => {
      const hook = newWebhook();
      const body = '{ "city":"Zürich \\u2028","quote":"\\"","b":1.0, "🙂" : null }\n';
      await queue.enqueue([{ ...delivery(hook, "e"), body }], NOW);
      expect((await claimOne(hook)).body).toBe(body);
      expect((await other.get(deliveryId(hook, "e")))?.body).toBe(body);
    });

    it("names the webhooks that have something due, each once", async () => {
      const [busy, idle] = [newWebhook(), newWebhook()];
      await queued(busy, "e1", "e2", "e3");
      await queued(idle, "e1");
      const claimed = await claimOne(idle);
      await queue.defer(claimed, at(100));
      const due = await queue.dueWebhooks(NOW);
      expect(due.filter((id) => id === busy)).toHaveLength(1);
      expect(due).not.toContain(idle);
      expect(await queue.dueWebhooks(at(100))).toEqual(expect.arrayContaining([busy, idle]));
      expect(await queue.dueWebhooks(at(-1))).not.toContain(busy);
    });

    it("claims the longest due first, of that webhook only and not more than asked", async () => {
      const [hook, neighbour] = [newWebhook(), newWebhook()];
      await queue.enqueue([delivery(hook, "second")], at(2));
      await queue.enqueue([delivery(hook, "first"), delivery(neighbour, "x")], at(1));
      await queue.enqueue([delivery(hook, "third")], at(3));
      const claimed = await claim(hook, at(10), 2);
      expect(claimed.map(({ eventId, wasDueAt }) => [eventId, wasDueAt])).toEqual([
        ["first", at(1)],
        ["second", at(2)],
      ]);
      expect(claimed[0]).toMatchObject({ id: deliveryId(hook, "first"), webhookId: hook, tries: 0 });
    });

    it.skipIf(!traits.atomicUpdates)(
      "gives no delivery to two of twenty claims that race for it",
      async () => {
        const hook = newWebhook();
        await queued(hook, ...Array.from({ length: 50 }, (_, n) => `e${n}`));
        const claims = await Promise.all(
          Array.from({ length: 20 }, (_, n) => claim(hook, NOW, 5, n % 2 ? queue : other)),
        );
        const ids = claims.flat().map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        while (ids.length < 50) {
          const more = await claim(hook, NOW, 50);
          expect(more).not.toEqual([]);
          ids.push(...more.map(({ id }) => id));
        }
        expect(new Set(ids).size).toBe(50);
      },
    );

    it("gives a claimed delivery to nobody before the claim's end, then to the next", async () => {
      const hook = newWebhook();
      await queued(hook, "e");
      await claimOne(hook);
      expect(await claim(hook, at(59), 10, other)).toEqual([]);
      expect(await claim(hook, at(60), 10, other)).toHaveLength(1);
    });

    it("notes a successful try and is done", async () => {
      const hook = newWebhook();
      await queued(hook, "e");
      const attempt = { ...answered(200), at: at(1), durationMs: 500, nextTryAt: null };
      expect(await queue.settle(await claimOne(hook), attempt, { state: "delivered" })).toBe(true);
      const { answer: _, ...lastAttempt } = attempt;
      const settled = { state: "delivered", dueAt: null, finishedAt: at(1.5), tries: 1, lastAttempt };
      expect(await other.get(deliveryId(hook, "e"))).toMatchObject({ ...settled, log: [attempt] });
      expect(await other.list({ webhookId: hook, limit: 1 })).toMatchObject([settled]);
      expect(await claim(hook, at(10_000))).toEqual([]);
    });

    it("keeps every try of a delivery in order, with the next one due when it was told", async () => {
      const hook = newWebhook();
      await queued(hook, "e");
      const first = { ...failedToConnect, at: NOW, nextTryAt: at(5) };
      await queue.settle(await claimOne(hook), first, { state: "pending", dueAt: at(5) });
      expect(await claim(hook, at(4.999))).toEqual([]);
      const again = await claimOne(hook, at(5));
      expect(again).toMatchObject({ tries: 1, wasDueAt: at(5) });
      const last = { ...answered(500), at: at(5) };
      await queue.settle(again, last, { state: "failed" });
      const found = await queue.get(deliveryId(hook, "e"));
      expect(found).toMatchObject({ state: "failed", tries: 2, dueAt: null });
      expect(found?.log).toEqual([first, last]);
    });

    it("lets a worker that is too late change nothing", async () => {
      const hook = newWebhook();
      await queued(hook, "e");
      const late = await claimOne(hook);
      const current = await claimOne(hook, at(60));
      expect(await other.settle(late, answered(500), { state: "failed" })).toBe(false);
      expect(await other.defer(late, at(9_000))).toBe(false);
      expect(await queue.get(deliveryId(hook, "e"))).toMatchObject({ state: "pending", tries: 0, log: [] });
      expect(await queue.settle(current, answered(200), { state: "delivered" })).toBe(true);
      expect(await queue.settle(current, answered(500), { state: "failed" })).toBe(false);
    });

    it("takes the outcome of a claim that ended, as long as nobody else has claimed since", async () => {
      const hook = newWebhook();
      await queued(hook, "e");
      const claimed = await claimOne(hook);
      expect(await queue.dueWebhooks(at(61))).toContain(hook);
      expect(await queue.settle(claimed, answered(200), { state: "delivered" })).toBe(true);
    });

    it("gives a claim back without spending a try", async () => {
      const hook = newWebhook();
      await queued(hook, "e");
      expect(await queue.defer(await claimOne(hook), at(30))).toBe(true);
      expect(await claim(hook, at(29))).toEqual([]);
      expect(await claimOne(hook, at(30))).toMatchObject({ tries: 0 });
      expect((await queue.get(deliveryId(hook, "e")))?.log).toEqual([]);
    });

    it("sends one again from the start of its schedule and keeps its earlier tries", async () => {
      const hook = newWebhook();
      await queued(hook, "e");
      await queue.settle(await claimOne(hook), answered(500), { state: "failed" });
      const resent = await other.resend(deliveryId(hook, "e"), at(100));
      expect(resent).toMatchObject({ state: "pending", tries: 0, dueAt: at(100), finishedAt: null });
      await queue.settle(await claimOne(hook, at(100)), answered(200), { state: "delivered" });
      expect((await queue.get(deliveryId(hook, "e")))?.log.map(({ status }) => status)).toEqual([500, 200]);
      expect(await queue.resend(deliveryId(hook, "unknown"), NOW)).toBeUndefined();
    });

    it("makes a waiting one due at once, but leaves one that is being sent alone", async () => {
      const hook = newWebhook();
      await queued(hook, "e");
      const claimed = await claimOne(hook);
      await queue.resend(claimed.id, at(1));
      expect(await claim(hook, at(2))).toEqual([]);
      await queue.settle(claimed, answered(500), { state: "pending", dueAt: at(3_600) });
      await queue.resend(claimed.id, at(10));
      expect(await claim(hook, at(10))).toHaveLength(1);
    });

    it("recovers what failed since a time, nothing older and of no other webhook", async () => {
      const [hook, neighbour] = [newWebhook(), newWebhook()];
      await queued(hook, "old", "new", "good");
      await queued(neighbour, "new");
      const fails = async (id: string, seconds: number, webhookId = hook) => {
        const claimed = (await claim(webhookId, NOW, 1))[0];
        if (!claimed) throw new Error(`${id} is not there`);
        await queue.settle(
          claimed,
          { ...answered(500), at: at(seconds), durationMs: 0 },
          { state: "failed" },
        );
        return claimed.id;
      };
      const old = await fails("old", 10);
      const recent = await fails("new", 20);
      await fails("new", 20, neighbour);
      await queue.settle(await claimOne(hook), answered(200), { state: "delivered" });
      expect(await queue.recover(hook, at(20), at(30))).toBe(1);
      expect(await queue.get(recent)).toMatchObject({ state: "pending", dueAt: at(30), tries: 0 });
      expect(await queue.get(old)).toMatchObject({ state: "failed" });
      expect(await claim(neighbour, at(30))).toEqual([]);
    });

    it("cancels all that waits for a removed webhook, claimed ones too", async () => {
      const [hook, neighbour] = [newWebhook(), newWebhook()];
      await queued(hook, "a", "b", "c");
      await queued(neighbour, "a");
      await queue.settle(await claimOne(hook), answered(200), { state: "delivered" });
      const claimed = await claimOne(hook);
      expect(await queue.cancel(hook, at(9))).toBe(2);
      expect(await queue.settle(claimed, answered(200), { state: "delivered" })).toBe(false);
      expect(await queue.list({ webhookId: hook, state: "cancelled", limit: 10 })).toHaveLength(2);
      expect(await queue.get(claimed.id)).toMatchObject({ finishedAt: at(9), dueAt: null });
      expect(await queue.dueWebhooks(at(100))).not.toContain(hook);
      expect(await claim(neighbour)).toHaveLength(1);
    });

    it("lists newest first, page by page without gap or repetition, all or those of a state", async () => {
      const hook = newWebhook();
      for (const minute of [0, 1, 2])
        await queue.enqueue(
          ["a", "b", "c"].map((id) => delivery(hook, `${id}${minute}`)),
          at(minute * 60),
        );
      const pages = async (state?: "pending" | "delivered") => {
        const seen: string[] = [];
        for (let after: { createdAt: string; id: string } | undefined; ; ) {
          const page = await queue.list({ webhookId: hook, state, after, limit: 2 });
          seen.push(...page.map(({ eventId }) => eventId));
          after = page.at(-1);
          if (!after) return seen;
        }
      };
      expect(await pages()).toEqual(["c2", "b2", "a2", "c1", "b1", "a1", "c0", "b0", "a0"]);
      const [first] = await claim(hook, at(0), 1);
      if (first) await queue.settle(first, answered(200), { state: "delivered" });
      expect(await pages("delivered")).toEqual([first?.eventId]);
      expect(await pages("pending")).toHaveLength(8);
      expect(await queue.list({ webhookId: newWebhook(), limit: 10 })).toEqual([]);
    });

    it("forgets what finished, or has been due in vain, before a time, with its tries", async () => {
      const hook = newWebhook();
      await queue.enqueue([delivery(hook, "finished"), delivery(hook, "waiting")], at(-10_000));
      await queue.enqueue([delivery(hook, "fresh")], at(-1_000));
      const [finished] = await claim(hook, at(-9_999), 1);
      if (!finished) throw new Error("nothing to claim");
      await queue.settle(finished, { ...answered(200), at: at(-9_000) }, { state: "delivered" });
      expect(await queue.sweep(at(-9_500))).toBeGreaterThanOrEqual(1);
      expect(await queue.get(finished.id)).toBeDefined();
      expect(await queue.sweep(at(-5_000))).toBeGreaterThanOrEqual(1);
      expect(await queue.get(finished.id)).toBeUndefined();
      expect((await queue.list({ webhookId: hook, limit: 10 })).map(({ eventId }) => eventId)).toEqual([
        "fresh",
      ]);
    });

    it("counts failures since the last success, whoever notes them", async () => {
      const hook = newWebhook();
      expect(await queue.noteFailure(hook, at(1))).toEqual({ since: at(1), attempts: 1 });
      expect(await other.noteFailure(hook, at(2))).toEqual({ since: at(1), attempts: 2 });
      await other.endStreak(hook);
      await queue.endStreak(hook);
      expect(await queue.noteFailure(hook, at(3))).toEqual({ since: at(3), attempts: 1 });
    });

    it("tells how much waits and since when, without webhooks that do not count", async () => {
      const fixture = await open();
      const [hook, paused] = [newWebhook(), newWebhook()];
      expect(await fixture.queue.stats(NOW, [])).toEqual({ pending: 0, due: 0, oldestDueAt: null });
      await fixture.queue.enqueue([delivery(hook, "a"), delivery(hook, "b")], at(5));
      await fixture.queue.enqueue([delivery(hook, "c"), delivery(paused, "x")], at(3));
      await claim(hook, at(3), 1, fixture.queue);
      expect(await fixture.other.stats(at(5), [paused])).toEqual({ pending: 4, due: 2, oldestDueAt: at(5) });
      expect(await fixture.other.stats(at(5), [])).toEqual({ pending: 4, due: 3, oldestDueAt: at(3) });
      await fixture.close();
    });
  });
}

function after(iso: string, seconds: number): string {
  return new Date(Date.parse(iso) + seconds * 1000).toISOString();
}

function delivery(webhookId: string, eventId: string): NewDelivery {
  return { webhookId, eventId, event: "link.clicked", body: `{"event":"link.clicked","id":"${eventId}"}` };
}

function answered(status: number): Attempt {
  return { at: NOW, durationMs: 12, status, error: null, answer: '{"ok":true}', nextTryAt: null };
}

const failedToConnect: Omit<Attempt, "at" | "nextTryAt"> = {
  durationMs: 3,
  status: null,
  error: { code: "connection_refused", message: "Nothing listens there" },
  answer: "",
};
