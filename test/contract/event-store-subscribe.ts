// The event store contract for subscriptions: catch-up then new events, resumable, pull-based, and ended by an abort.

import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { categoryOf } from "../../src/stores/event-store/categories.ts";
import {
  type ExpectedRevision,
  type Position,
  type RecordedEvent,
  START,
} from "../../src/stores/event-store/port.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { sampleEvent, sampleEvents } from "../support/event-store/sample-events.ts";
import { subscribed } from "../support/event-store/subscribed.ts";
import { stretched } from "../support/runtime/slowness.ts";
import type { Subject } from "./event-store-fixture.ts";

export function subscribePromises({ fixture, newCategory, newStream }: Subject): void {
  describe("subscribe", () => {
    it("delivers existing events, then new ones, in order and once", async () => {
      const { store } = fixture();
      const stream = newStream();
      await store.append(stream, "none", sampleEvents(5));
      const subscription = subscribed(store, { categories: [categoryOf(stream)], batchSize: 2 });
      expect(revisions(await subscription.take(5))).toEqual([0, 1, 2, 3, 4]);
      await store.append(stream, 4, sampleEvents(3));
      expect(revisions(await subscription.take(3))).toEqual([5, 6, 7]);
      expect(subscription.largestBatch()).toBeLessThanOrEqual(2);
    });

    it("resumes after the last committed position, without it", async () => {
      const { store } = fixture();
      const stream = newStream();
      await store.append(stream, "none", sampleEvents(4));
      const first = subscribed(store, { categories: [categoryOf(stream)], batchSize: 2 });
      const committed = (await first.take(2)).at(-1)?.position;
      await first.stop();
      const second = subscribed(store, { categories: [categoryOf(stream)], after: committed });
      expect(revisions(await second.take(2))).toEqual([2, 3]);
    });

    it("skips other streams without losing matching events", async () => {
      const { store } = fixture();
      const [stream, other] = [newStream(), newStream()];
      const subscription = subscribed(store, { categories: [categoryOf(stream)] });
      for (let round = 0; round < 5; round++) {
        await store.append(other, last(round * 3), sampleEvents(3));
        await store.append(stream, last(round), [sampleEvent()]);
        expect(revisions(await subscription.take(1))).toEqual([round]);
      }
    });

    it("says up to where it looked while only other streams are written, and goes on from there", async () => {
      const { store } = fixture();
      const stream = newStream();
      const { position } = await store.append(newStream(), "none", sampleEvents(3));
      const options = {
        categories: [categoryOf(stream)],
        signal: AbortSignal.timeout(Math.ceil(stretched(10_000))),
      };
      const reached = async (after: Position) => {
        for await (const { events, next } of store.subscribe({ ...options, after })) {
          expect(events).toEqual([]);
          if (next >= position) return next;
        }
        throw new Error("nothing was said");
      };
      const next = await reached(START);
      await store.append(stream, "none", [sampleEvent()]);
      const subscription = subscribed(store, { categories: [categoryOf(stream)], after: next });
      expect(revisions(await subscription.take(1))).toEqual([0]);
    });

    it("delivers another handle's appends within 250 ms", async () => {
      const { store, openAnother } = fixture();
      const stream = newStream();
      const other = await openAnother();
      onTestFinished(() => other.close());
      await other.append(stream, "none", [sampleEvent()]);
      const subscription = subscribed(store, { categories: [categoryOf(stream)] });
      await subscription.take(1);
      const took: number[] = [];
      for (let revision = 0; revision < 5; revision++) {
        // Already waiting, as one that has not asked yet would read at once.
        const delivered = subscription.take(1);
        await nextTurn();
        await other.append(stream, revision, [sampleEvent()]);
        const appended = performance.now();
        await delivered;
        took.push(performance.now() - appended);
      }
      // The median, because single pauses of a busy machine are not the adapter's.
      expect(took.toSorted((a, b) => a - b)[2]).toBeLessThan(stretched(250));
    });

    it("misses no event of many writers, and gives every subscriber the same order", async () => {
      const { store } = fixture();
      const category = newCategory("many");
      const one = subscribed(store, { categories: [category], batchSize: 7 });
      const two = subscribed(store, { categories: [category] });
      const streams = Array.from({ length: 10 }, (_, n) => `${category}-${n}`);
      await Promise.all(
        streams.map(async (stream) => {
          for (let turn = 0; turn < 10; turn++) await store.append(stream, last(turn), [sampleEvent()]);
        }),
      );
      const [seenByOne, seenByTwo] = await Promise.all([one.take(100), two.take(100)]);
      expect(seenByOne).toEqual(seenByTwo);
      expect(seenByOne).toEqual(await loggedEvents(store, { categories: [category], limit: 200 }));
    });

    it("ends promptly when aborted while it waits", async () => {
      const { store } = fixture();
      const subscription = subscribed(store, { categories: [newCategory()] });
      const next = subscription.take(1);
      await store.head();
      const aborted = performance.now();
      await subscription.stop();
      expect(await next).toEqual([]);
      expect(performance.now() - aborted).toBeLessThan(stretched(1_000));
    });

    it("yields nothing when its signal was aborted before", async () => {
      const { store } = fixture();
      const stream = newStream();
      await store.append(stream, "none", [sampleEvent()]);
      const batches: RecordedEvent[][] = [];
      for await (const { events } of store.subscribe({
        after: START,
        categories: [categoryOf(stream)],
        signal: AbortSignal.abort(),
      }))
        batches.push(events);
      expect(batches).toEqual([]);
    });
  });
}

/** The last revision of a stream of so many events. */
function last(count: number): ExpectedRevision {
  return count === 0 ? "none" : count - 1;
}

function revisions(events: readonly RecordedEvent[]): number[] {
  return events.map(({ revision }) => revision);
}
