// The event store contract for durability: acknowledged events survive a restart and a kill -9.

import { once } from "node:events";
import { createInterface } from "node:readline";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { categoryOf } from "../../src/stores/event-store/categories.ts";
import {
  type EventStore,
  type ExpectedRevision,
  RevisionConflict,
} from "../../src/stores/event-store/port.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { sampleEvents } from "../support/event-store/sample-events.ts";
import { effort } from "../support/runtime/effort.ts";
import type { Subject } from "./event-store-fixture.ts";

export function durabilityPromises({ fixture, newStream }: Subject): void {
  describe("durability", () => {
    it("continues a subscription and a stream where they were before a restart in mid-batch", async () => {
      const { openAnother } = fixture();
      const stream = newStream();
      const before = await openAnother();
      const events = sampleEvents(4);
      const appended = await before.append(stream, "none", events);
      const [first, second] = await loggedEvents(before, { categories: [categoryOf(stream)], limit: 2 });
      await before.close();
      const after = await openAnother();
      expect(await after.append(stream, "none", events)).toEqual(appended);
      await after.append(stream, 3, sampleEvents(1));
      const remaining = await loggedEvents(after, {
        categories: [categoryOf(stream)],
        after: second?.position,
        limit: 10,
      });
      await after.close();
      expect([first, second, ...remaining].map((event) => event?.revision)).toEqual([0, 1, 2, 3, 4]);
    });

    it("has every acknowledged event after kill -9, and no gap", async () => {
      const { store, startAppending } = fixture();
      const stream = newStream();
      const child = startAppending(stream);
      const exited = once(child, "exit");
      const acknowledged: { revision: number; ids: string[] }[] = [];
      if (!child.stdout) throw new Error("The appending process has no stdout");
      for await (const line of createInterface({ input: child.stdout })) {
        acknowledged.push(JSON.parse(line));
        if (acknowledged.length === 40) child.kill("SIGKILL");
      }
      await exited;
      expect(child.signalCode).toBe("SIGKILL");
      const there = await store.read(stream);
      expect(there.map(({ revision }) => revision)).toEqual([...there.keys()]);
      expect(there.length % 3).toBe(0);
      expect(there.slice(0, acknowledged.length * 3).map(({ id }) => id)).toEqual(
        acknowledged.flatMap(({ ids }) => ids),
      );
    });

    it("keeps revisions gapless and positions rising through any history of appends", async () => {
      const { store } = fixture();
      const expected = fc.oneof(
        fc.constantFrom<ExpectedRevision | "last">("none", "last"),
        fc.integer({ min: 0, max: 6 }),
      );
      const step = fc.record({
        stream: fc.integer({ min: 0, max: 2 }),
        expected,
        size: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 15, max: 40 })),
        twice: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
          const streams = [newStream(), newStream(), newStream()];
          const ids = new Map(streams.map((stream) => [stream, [] as string[]]));
          for (const { stream: index, expected: wish, size, twice } of steps) {
            const stream = streams[index] ?? "";
            const length = ids.get(stream)?.length ?? 0;
            const expected = wish !== "last" ? wish : length === 0 ? "none" : length - 1;
            const events = sampleEvents(size);
            const took = await appended(store, stream, expected, events);
            expect(took).toBe(fits(expected, length));
            if (took) ids.get(stream)?.push(...events.map(({ id }) => id));
            if (took && twice) await store.append(stream, expected, events);
          }
          for (const [stream, appendedIds] of ids) {
            const there = await store.read(stream);
            expect(there.map(({ id }) => id)).toEqual(appendedIds);
            expect(there.map(({ revision }) => revision)).toEqual([...there.keys()]);
            const positions = there.map(({ position }) => position);
            expect(positions).toEqual([...new Set(positions)].sort());
          }
        }),
        { numRuns: effort(8, 25) },
      );
    });
  });
}

/** The model: whether an expected revision holds for a stream of this many events. */
function fits(expected: ExpectedRevision, length: number): boolean {
  return length === (expected === "none" ? 0 : expected + 1);
}

async function appended(store: EventStore, ...append: Parameters<EventStore["append"]>): Promise<boolean> {
  try {
    await store.append(...append);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(RevisionConflict);
    return false;
  }
}
