// The contract of the delivery queue, second part: resending, cancelling, listing, sweeping and counting.
import { beforeAll, describe, expect, it } from "vitest";
import {
  DELIVERY_STATES,
  type DeliveryQueue,
  type DeliveryState,
  deliveryId,
} from "../../src/webhooks/queue/queue.ts";
import {
  answered,
  at,
  claim,
  claimOne,
  type DeliveryQueueFixture,
  delivery,
  enqueue,
  NOW,
  newWebhook,
} from "./delivery-queue-fixture.ts";

export function deliveryQueueCareContract(name: string, open: () => Promise<DeliveryQueueFixture>): void {
  describe(`care of the delivery queue: ${name}`, () => {
    let queue: DeliveryQueue;
    let other: DeliveryQueue;
    beforeAll(async () => {
      const fixture = await open();
      ({ queue, other } = fixture);
      return () => fixture.close();
    });

    it("resends a delivery from the start of its schedule and keeps its earlier attempts", async () => {
      const hook = newWebhook();
      await enqueue(queue, hook, "e");
      await queue.settle(await claimOne(queue, hook), answered(500), { state: "failed" });
      const resent = await other.resend(deliveryId(hook, "e"), at(100));
      expect(resent).toMatchObject({ state: "pending", tries: 0, dueAt: at(100), finishedAt: null });
      await queue.settle(await claimOne(queue, hook, at(100)), answered(200), { state: "delivered" });
      expect((await queue.get(deliveryId(hook, "e")))?.log.map(({ status }) => status)).toEqual([500, 200]);
      expect(await queue.resend(deliveryId(hook, "unknown"), NOW)).toBeUndefined();
    });

    it("makes a waiting delivery due when it is resent, but does not change one in flight", async () => {
      const hook = newWebhook();
      await enqueue(queue, hook, "e");
      const claimed = await claimOne(queue, hook);
      await queue.resend(claimed.id, at(1));
      expect(await claim(queue, hook, at(2))).toEqual([]);
      await queue.settle(claimed, answered(500), { state: "pending", dueAt: at(3_600) });
      await queue.resend(claimed.id, at(10));
      expect(await claim(queue, hook, at(10))).toHaveLength(1);
    });

    it("recovers what failed since a time, nothing older and nothing of other webhooks", async () => {
      const [hook, neighbour] = [newWebhook(), newWebhook()];
      await enqueue(queue, hook, "old", "new", "good");
      await enqueue(queue, neighbour, "new");
      const fails = async (id: string, seconds: number, webhookId = hook) => {
        const claimed = (await claim(queue, webhookId, NOW, 1))[0];
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
      await queue.settle(await claimOne(queue, hook), answered(200), { state: "delivered" });
      expect(await queue.recover(hook, at(20), at(30))).toBe(1);
      expect(await queue.get(recent)).toMatchObject({ state: "pending", dueAt: at(30), tries: 0 });
      expect(await queue.get(old)).toMatchObject({ state: "failed" });
      expect(await claim(queue, neighbour, at(30))).toEqual([]);
    });

    it("cancels all pending deliveries of a removed webhook, including claimed ones", async () => {
      const [hook, neighbour] = [newWebhook(), newWebhook()];
      await enqueue(queue, hook, "a", "b", "c");
      await enqueue(queue, neighbour, "a");
      await queue.settle(await claimOne(queue, hook), answered(200), { state: "delivered" });
      const claimed = await claimOne(queue, hook);
      expect(await queue.cancel(hook, at(9))).toBe(2);
      expect(await queue.settle(claimed, answered(200), { state: "delivered" })).toBe(false);
      expect(await queue.list({ webhookId: hook, state: "cancelled", limit: 10 })).toHaveLength(2);
      expect(await queue.get(claimed.id)).toMatchObject({ finishedAt: at(9), dueAt: null });
      expect(await queue.dueWebhooks(at(100), [])).not.toContain(hook);
      expect(await claim(queue, neighbour)).toHaveLength(1);
    });

    it("lists newest first, page by page without gap or repetition, all or those of a state, an event, or both", async () => {
      const hook = newWebhook();
      const events = ["link.clicked", "link.created", "link.updated"];
      const queued: { eventId: string; event: string; state: DeliveryState }[] = [];
      for (let n = 0; n < 24; n++) {
        const event = events[n % 3] as string;
        const eventId = `e${String(n).padStart(2, "0")}`;
        // Several of each moment.
        await queue.enqueue([{ ...delivery(hook, eventId), event }], at(Math.floor(n / 5)));
        queued.unshift({ eventId, event, state: "pending" });
      }
      for (const claimed of await claim(queue, hook, at(60), 15)) {
        const { eventId } = claimed;
        const state = Number(eventId.slice(1)) % 2 ? "failed" : "delivered";
        await queue.settle(claimed, answered(200), { state });
        const row = queued.find((row) => row.eventId === eventId);
        if (row) row.state = state;
      }
      for (const state of [undefined, ...DELIVERY_STATES])
        for (const event of [undefined, ...events, "link.deleted"]) {
          const seen: string[] = [];
          for (let after: { createdAt: string; id: string } | undefined; ; ) {
            const page = await other.list({ webhookId: hook, state, event, after, limit: 2 });
            seen.push(...page.map(({ eventId }) => eventId));
            after = page.at(-1);
            if (!after) break;
          }
          const wanted = queued.filter(
            (row) => (!state || row.state === state) && (!event || row.event === event),
          );
          expect([state, event, seen]).toEqual([state, event, wanted.map(({ eventId }) => eventId)]);
        }
      expect(await queue.list({ webhookId: newWebhook(), limit: 10 })).toEqual([]);
    });

    it("sweeps what finished or became due before a time, with its attempts", async () => {
      const hook = newWebhook();
      await queue.enqueue([delivery(hook, "finished"), delivery(hook, "waiting")], at(-10_000));
      await queue.enqueue([delivery(hook, "fresh")], at(-1_000));
      const [finished] = await claim(queue, hook, at(-9_999), 1);
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

    it("counts failures since the last success over all workers", async () => {
      const hook = newWebhook();
      expect(await queue.noteFailure(hook, at(1), at(0))).toEqual({
        ...{ since: at(1), lastAt: at(1), attempts: 1 },
      });
      expect(await other.noteFailure(hook, at(2), at(1))).toEqual({
        ...{ since: at(1), lastAt: at(2), attempts: 2 },
      });
      const streak = { webhookId: hook, since: at(1), lastAt: at(2), attempts: 2 };
      expect(await queue.streaks(2)).toContainEqual(streak);
      expect(await other.streaks(2, [hook, newWebhook()])).toEqual([streak]);
      expect(await other.streaks(2, [newWebhook()])).toEqual([]);
      expect((await other.streaks(3)).map(({ webhookId }) => webhookId)).not.toContain(hook);
      await other.endStreak(hook);
      await queue.endStreak(hook);
      expect(await other.streaks(0, [hook])).toEqual([]);
      expect(await queue.noteFailure(hook, at(3), at(0))).toMatchObject({ since: at(3), attempts: 1 });
      expect(await queue.noteFailure(hook, at(4), at(0))).toMatchObject({ attempts: 2 });
      // Since the webhook was resumed.
      expect(await other.noteFailure(hook, at(6), at(5))).toEqual({
        ...{ since: at(6), lastAt: at(6), attempts: 1 },
      });
    });

    it("reports how many deliveries wait and since when, without the excepted webhooks", async () => {
      const fixture = await open();
      const [hook, paused] = [newWebhook(), newWebhook()];
      expect(await fixture.queue.stats(NOW, [])).toEqual({ pending: 0, due: 0, oldestDueAt: null });
      await fixture.queue.enqueue([delivery(hook, "a"), delivery(hook, "b")], at(5));
      await fixture.queue.enqueue([delivery(hook, "c"), delivery(paused, "x")], at(3));
      await claim(fixture.queue, hook, at(3), 1);
      expect(await fixture.other.stats(at(5), [paused])).toEqual({ pending: 4, due: 2, oldestDueAt: at(5) });
      expect(await fixture.other.stats(at(5), [])).toEqual({ pending: 4, due: 3, oldestDueAt: at(3) });
      await fixture.close();
    });
  });
}
