// Appends to the event store when the answer is lost, late, missing or unexpected.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEventStoreDb } from "../../src/event-store/eventstoredb/event-store.ts";
import { type EventStore, type ExpectedRevision, RevisionConflict } from "../../src/event-store/port.ts";
import {
  type EventStoreDbDouble,
  notLeader,
  type Scheme,
  startDouble,
} from "../support/event-store/eventstoredb-double/double.ts";
import type { Fault } from "../support/event-store/eventstoredb-double/faults.ts";
import { sampleEvent, sampleEvents } from "../support/event-store/sample-events.ts";
import { stretched } from "../support/runtime/slowness.ts";

export function appendFaults(scheme: Scheme): void {
  const UNAVAILABLE = 14;

  let double: EventStoreDbDouble;
  let store: EventStore;

  beforeEach(async () => {
    double = await startDouble();
    store = await openEventStoreDb(double.url(scheme), { timeoutMs: stretched(400) });
  });

  afterEach(async () => {
    await store.close();
    await double.close();
  });

  describe("an append whose outcome is unknown", () => {
    const lost = [
      { kind: "silent", commit: true },
      { kind: "silent", commit: false },
      { kind: "drop", commit: true },
      { kind: "drop", commit: false },
      { kind: "late", ms: 700 },
    ] as const;
    const expectations: [ExpectedRevision, number][] = [
      ["none", 2],
      [1, 4],
      ["any", 4],
    ];

    describe.each(lost)("(%o)", (fault) => {
      it.each(expectations)(
        "at %s is in the stream exactly once and answers as ever",
        async (at, revision) => {
          if (at !== "none") await store.append("link-a", "none", sampleEvents(2));
          const events = sampleEvents(3);
          double.script.add("append", fault);
          expect(await store.append("link-a", at, events)).toMatchObject({ revision });
          const there = await store.read("link-a");
          expect(there.slice(-3).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
          expect(there).toHaveLength(revision + 1);
        },
      );
    });

    it("is found below other writers' events when no revision was given", async () => {
      const events = sampleEvents(2);
      double.script.add("append", { kind: "silent", commit: true });
      const appending = store.append("link-a", "any", events);
      await double.script.seen("append", 1);
      await double.store.append("link-a", "any", sampleEvents(5));
      const there = await appending.then(() => store.read("link-a"));
      expect(there.filter(({ id }) => id === events[0]?.id)).toHaveLength(1);
      expect(there).toHaveLength(7);
    });

    it("fails alone: appends in flight beside a lost one succeed", async () => {
      double.script.add("append", { kind: "drop", commit: true });
      const appends = Array.from({ length: 50 }, (_, n) =>
        store.append(`link-${n}`, "none", sampleEvents(2)),
      );
      expect(await Promise.all(appends)).toHaveLength(50);
      for (let n = 0; n < 50; n++) expect(await store.read(`link-${n}`)).toHaveLength(2);
    });

    it("of one handle disturbs no other handle of the process", async () => {
      const other = await openEventStoreDb(double.url(scheme));
      double.script.add("append", { kind: "late", ms: 100 });
      const late = other.append("link-late", "none", [sampleEvent()]);
      await double.script.seen("append", 1);
      double.script.add("append", { kind: "status", code: UNAVAILABLE });
      await store.append("link-a", "none", [sampleEvent()]);
      expect(await late).toMatchObject({ revision: 0 });
      expect(double.script.counts.append).toBe(3);
      await other.close();
    });
  });

  describe("an append that is refused", () => {
    const passing = [
      ["unavailable", { code: UNAVAILABLE }],
      ["cancelled by the server", { code: 1, details: "shutting down" }],
      ["too busy", { code: 8 }],
      ["timed out inside the server", { code: 10 }],
      ["failed without a reason", { code: 2 }],
      ["answered by a broken stream", { code: 13, details: "Received RST_STREAM with code 2" }],
    ] as const;

    it.each(passing)("is tried again when the server is %s", async (_, status) => {
      double.script.add("append", { kind: "status", ...status });
      expect(await store.append("link-a", "none", [sampleEvent()])).toMatchObject({ revision: 0 });
      expect(double.script.counts.append).toBe(2);
    });

    it("goes to the leader when a follower names it", async () => {
      double.script.add("append", { kind: "status", ...notLeader(double.wire.port) });
      expect(await store.append("link-a", "none", [sampleEvent()])).toMatchObject({ revision: 0 });
    });

    it("throws StoreUnavailable when it stays refused", async () => {
      await double.wire.close();
      const started = performance.now();
      await expect(store.append("link-a", "none", [sampleEvent()])).rejects.toMatchObject({
        code: "store_unavailable",
      });
      expect(performance.now() - started).toBeLessThan(3000);
    });

    it("is not tried again when the request itself is wrong", async () => {
      double.script.add("append", { kind: "status", code: 3, details: "no such thing" });
      await expect(store.append("link-a", "none", [sampleEvent()])).rejects.toThrow("no such thing");
      expect(double.script.counts.append).toBe(1);
    });

    it("names the stream's revision in a conflict, and none for a missing stream", async () => {
      const missing = store.append("link-a", 3, [sampleEvent()]);
      await expect(missing).rejects.toEqual(new RevisionConflict("link-a", 3, "none"));
      await store.append("link-a", -1, sampleEvents(2));
      const late = store.append("link-a", "none", [sampleEvent()]);
      await expect(late).rejects.toEqual(new RevisionConflict("link-a", "none", 1));
    });
  });

  it("answers the position also when the server had committed the append before and doesn't answer it", async () => {
    const events = sampleEvents(3);
    const first = await store.append("link-a", "none", events);
    double.script.add("append", { kind: "placeless" });
    expect(await store.append("link-a", "none", events)).toEqual(first);
  });

  describe("what can't be sent", () => {
    it("is refused before the client sees it: a bigint, a cycle, nothing at all", async () => {
      const cycle: Record<string, unknown> = {};
      cycle.self = cycle;
      for (const data of [{ count: 1n }, cycle, undefined])
        await expect(store.append("link-a", "any", [{ ...sampleEvent(), data }])).rejects.toThrow(TypeError);
      expect(double.script.counts.append).toBe(0);
    });

    it("goes in parts when it is larger than an append, and a lost part is completed by the same batch", async () => {
      const events = sampleEvents(1200);
      expect(await store.append("clicks-a", "none", events)).toMatchObject({ revision: 1199 });
      expect(double.script.counts.append).toBe(3);
      expect(await store.append("clicks-a", "none", events)).toMatchObject({ revision: 1199 });
      const text = "x".repeat(1000);
      const large = Array.from({ length: 1000 }, () => sampleEvent({ text }));
      double.script.add(
        "append",
        { kind: "late", ms: 0 },
        { kind: "status", code: 3, details: "broken off" },
        { kind: "status", code: 3, details: "broken off" },
      );
      await expect(store.append("clicks-b", "none", large)).rejects.toThrow("broken off");
      expect((await store.read("clicks-b")).length).toBeLessThan(500);
      expect(await store.append("clicks-b", "none", large)).toMatchObject({ revision: 999 });
      expect((await store.read("clicks-b")).map(({ id }) => id)).toEqual(large.map(({ id }) => id));
    });

    it("is refused when it is larger than an append and has no revision to cut it at", async () => {
      await expect(store.append("link-a", "any", sampleEvents(501))).rejects.toThrow(RangeError);
    });
  });

  describe("an append of many events, which goes in one message", () => {
    it.each<Fault>([
      { kind: "status", code: 12, details: "no such method" },
      { kind: "status", code: 14, details: "restarting" },
      { kind: "drop", commit: true },
      { kind: "drop", commit: false },
      { kind: "silent", commit: true },
      { kind: "silent", commit: false },
    ])("is stored once also when that fails: %o", async (fault) => {
      const hasty = await openEventStoreDb(double.url(scheme), { timeoutMs: 500 });
      const events = sampleEvents(100);
      double.script.add("append", fault);
      expect(await hasty.append("clicks-a", "none", events)).toMatchObject({ revision: 99 });
      expect((await hasty.read("clicks-a")).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
      await hasty.close();
    });

    it("is refused at another revision, with the one that the stream is at", async () => {
      await store.append("clicks-a", "none", sampleEvents(30));
      const refused = store.append("clicks-a", 7, sampleEvents(30));
      await expect(refused).rejects.toMatchObject({ code: "revision_conflict", actual: 29 });
    });
  });

  it("never has more appends in flight than its limit", async () => {
    const bounded = await openEventStoreDb(double.url(scheme), { inFlight: 4 });
    const { promise: until, resolve: answer } = Promise.withResolvers<void>();
    double.script.add("append", ...Array.from({ length: 4 }, () => ({ kind: "held", until }) as const));
    const appends = Array.from({ length: 40 }, (_, n) =>
      bounded.append(`link-${n}`, "none", [sampleEvent()]),
    );
    await double.script.seen("append", 4);
    await bounded.head();
    expect(double.script.counts.append).toBe(4);
    answer();
    await Promise.all(appends);
    expect(double.script.counts.append).toBe(40);
    await bounded.close();
  });

  it.each(["append", "read"] as const)("lets no %s wait behind others that get no answer", async (call) => {
    const hasty = await openEventStoreDb(double.url(scheme), {
      timeoutMs: 150,
      inFlight: 2,
      random: () => 0,
    });
    const silent = Array.from({ length: 100 }, () => ({ kind: "silent", commit: false }) as const);
    double.script.add(call, ...silent);
    const calls = Array.from({ length: 16 }, (_, n) =>
      call === "read" ? hasty.read(`link-${n}`) : hasty.append(`link-${n}`, "none", [sampleEvent()]),
    );
    for (const one of await Promise.allSettled(calls))
      expect(one).toMatchObject({ status: "rejected", reason: { code: "store_unavailable" } });
    // Two calls, four times each.
    expect(double.script.counts[call]).toBe(8);
    await hasty.close();
  });
}
