// The contract of the delivery queue: one delivery per webhook and event, one worker per claim, all attempts logged.
import { beforeAll, describe, expect, it } from "vitest";
import { type DeliveryQueue, deliveryId, type RoutedPlace } from "../../src/webhooks/queue/queue.ts";
import { deliveryQueueCareContract } from "./delivery-queue-care.ts";
import {
  answered,
  at,
  claim,
  claimOne,
  type DeliveryQueueFixture,
  delivery,
  enqueue,
  failedToConnect,
  NOW,
  newWebhook,
} from "./delivery-queue-fixture.ts";

export function deliveryQueueContract(name: string, open: () => Promise<DeliveryQueueFixture>): void {
  deliveryQueueCareContract(name, open);
  describe(`delivery queue: ${name}`, () => {
    let queue: DeliveryQueue;
    let other: DeliveryQueue;
    beforeAll(async () => {
      const fixture = await open();
      ({ queue, other } = fixture);
      return () => fixture.close();
    });

    it("knows up to where the log was routed, in every process, and lists no delivery for it", async () => {
      const hook = newWebhook();
      expect(await other.routed()).toBeUndefined();
      const place = (position: string): RoutedPlace => ({
        ...{
          position,
          eventId: `event ${position}`,
          days: [{ day: "2026-03-01", position, eventId: "first" }],
        },
        setAside: {
          count: 1,
          events: [{ position: "1", stream: "clicks-a", revision: 0, type: "LinkClicked", error: "no link" }],
        },
      });
      for (const position of ["17", "18"]) {
        await queue.enqueue([delivery(hook, position)], NOW);
        await queue.noteRouted(place(position));
        expect(await other.routed()).toEqual(place(position));
      }
      expect(await queue.list({ webhookId: hook, limit: 10 })).toHaveLength(2);
      await queue.sweep(at(1e9));
      expect(await queue.stats(at(1e9), [])).toEqual({ pending: 0, due: 0, oldestDueAt: null });
      expect(await queue.routed()).toEqual(place("18"));
    });

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

    it("queues each once when two processes queue the same 200 concurrently", async () => {
      const hook = newWebhook();
      const batch = Array.from({ length: 200 }, (_, n) => delivery(hook, `e${n}`));
      const added = await Promise.all([queue.enqueue(batch, NOW), other.enqueue(batch, NOW)]);
      expect(added[0] + added[1]).toBe(200);
      expect(await queue.list({ webhookId: hook, limit: 500 })).toHaveLength(200);
    });

    it("returns the body byte for byte", async () => {
      const hook = newWebhook();
      const body = '{ "city":"Zürich \\u2028","quote":"\\"","b":1.0, "🙂" : null }\n';
      await queue.enqueue([{ ...delivery(hook, "e"), body }], NOW);
      expect((await claimOne(queue, hook)).body).toBe(body);
      expect((await other.get(deliveryId(hook, "e")))?.body).toBe(body);
    });

    it("lists the webhooks with due deliveries, each once, without the excepted ones", async () => {
      const [busy, idle] = [newWebhook(), newWebhook()];
      await enqueue(queue, busy, "e1", "e2", "e3");
      await enqueue(queue, idle, "e1");
      const claimed = await claimOne(queue, idle);
      await queue.defer(claimed, at(100));
      const due = await queue.dueWebhooks(NOW, []);
      expect(due.filter((id) => id === busy)).toHaveLength(1);
      expect(due).not.toContain(idle);
      expect(await queue.dueWebhooks(at(100), [])).toEqual(expect.arrayContaining([busy, idle]));
      expect(await queue.dueWebhooks(at(-1), [])).not.toContain(busy);
      const others = await queue.dueWebhooks(at(100), [busy, newWebhook()]);
      expect(others).toContain(idle);
      expect(others).not.toContain(busy);
    });

    it("claims the longest due first, of that webhook only and up to the limit", async () => {
      const [hook, neighbour] = [newWebhook(), newWebhook()];
      await queue.enqueue([delivery(hook, "second")], at(2));
      await queue.enqueue([delivery(hook, "first"), delivery(neighbour, "x")], at(1));
      await queue.enqueue([delivery(hook, "third")], at(3));
      const claimed = await claim(queue, hook, at(10), 2);
      expect(claimed.map(({ eventId, wasDueAt }) => [eventId, wasDueAt])).toEqual([
        ["first", at(1)],
        ["second", at(2)],
      ]);
      expect(claimed[0]).toMatchObject({ id: deliveryId(hook, "first"), webhookId: hook, tries: 0 });
    });

    it("gives no delivery to two of twenty claims that race for it", async () => {
      const hook = newWebhook();
      await enqueue(queue, hook, ...Array.from({ length: 50 }, (_, n) => `e${n}`));
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, n) => claim(n % 2 ? queue : other, hook, NOW, 5)),
      );
      const ids = claims.flat().map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      while (ids.length < 50) {
        const more = await claim(queue, hook, NOW, 50);
        expect(more).not.toEqual([]);
        ids.push(...more.map(({ id }) => id));
      }
      expect(new Set(ids).size).toBe(50);
    });

    it("gives a claimed delivery to no other worker before the claim's end, and then to the next", async () => {
      const hook = newWebhook();
      await enqueue(queue, hook, "e");
      await claimOne(queue, hook);
      expect(await claim(other, hook, at(59), 10)).toEqual([]);
      expect(await claim(other, hook, at(60), 10)).toHaveLength(1);
    });

    it("finishes a delivery with a successful attempt", async () => {
      const hook = newWebhook();
      await enqueue(queue, hook, "e");
      const attempt = { ...answered(200), at: at(1), durationMs: 500, nextTryAt: null };
      expect(await queue.settle(await claimOne(queue, hook), attempt, { state: "delivered" })).toBe(true);
      const { answer: _, ...lastAttempt } = attempt;
      const settled = { state: "delivered", dueAt: null, finishedAt: at(1.5), tries: 1, lastAttempt };
      expect(await other.get(deliveryId(hook, "e"))).toMatchObject({ ...settled, log: [attempt] });
      expect(await other.list({ webhookId: hook, limit: 1 })).toMatchObject([settled]);
      expect(await claim(queue, hook, at(10_000))).toEqual([]);
    });

    it("keeps all attempts of a delivery in order, and makes it due at the given time", async () => {
      const hook = newWebhook();
      await enqueue(queue, hook, "e");
      const first = { ...failedToConnect, at: NOW, nextTryAt: at(5) };
      await queue.settle(await claimOne(queue, hook), first, { state: "pending", dueAt: at(5) });
      expect(await claim(queue, hook, at(4.999))).toEqual([]);
      const again = await claimOne(queue, hook, at(5));
      expect(again).toMatchObject({ tries: 1, wasDueAt: at(5) });
      const last = { ...answered(500), at: at(5) };
      await queue.settle(again, last, { state: "failed" });
      const found = await queue.get(deliveryId(hook, "e"));
      expect(found).toMatchObject({ state: "failed", tries: 2, dueAt: null });
      expect(found?.log).toEqual([first, last]);
    });

    it("ignores a worker whose delivery another one has claimed since", async () => {
      const hook = newWebhook();
      await enqueue(queue, hook, "e");
      const late = await claimOne(queue, hook);
      const current = await claimOne(queue, hook, at(60));
      expect(await other.settle(late, answered(500), { state: "failed" })).toBe(false);
      expect(await other.defer(late, at(9_000))).toBe(false);
      expect(await queue.get(deliveryId(hook, "e"))).toMatchObject({ state: "pending", tries: 0, log: [] });
      expect(await queue.settle(current, answered(200), { state: "delivered" })).toBe(true);
      expect(await queue.settle(current, answered(500), { state: "failed" })).toBe(false);
    });

    it("accepts the outcome of an expired claim if no other worker has claimed the delivery since", async () => {
      const hook = newWebhook();
      await enqueue(queue, hook, "e");
      const claimed = await claimOne(queue, hook);
      expect(await queue.dueWebhooks(at(61), [])).toContain(hook);
      expect(await queue.settle(claimed, answered(200), { state: "delivered" })).toBe(true);
    });

    it("returns a claim without counting an attempt", async () => {
      const hook = newWebhook();
      await enqueue(queue, hook, "e");
      expect(await queue.defer(await claimOne(queue, hook), at(30))).toBe(true);
      expect(await claim(queue, hook, at(29))).toEqual([]);
      expect(await claimOne(queue, hook, at(30))).toMatchObject({ tries: 0 });
      expect((await queue.get(deliveryId(hook, "e")))?.log).toEqual([]);
    });
  });
}
