// Appends to the event store when the answer is lost, late, missing or unexpected.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEventStoreDb } from "../../src/stores/event-store/eventstoredb/event-store.ts";
import {
  type EventStore,
  type ExpectedRevision,
  RevisionConflict,
} from "../../src/stores/event-store/port.ts";
import {
  type EventStoreDbDouble,
  notLeader,
  startDouble,
} from "../support/event-store/eventstoredb-double/double.ts";
import { sampleEvent, sampleEvents } from "../support/event-store/sample-events.ts";
import { stretched } from "../support/runtime/slowness.ts";

const UNAVAILABLE = 14;
const TIMEOUT_MS = stretched(400);

let double: EventStoreDbDouble;
let store: EventStore;

beforeEach(async () => {
  double = await startDouble();
  store = await openEventStoreDb(double.connectionString, { timeoutMs: TIMEOUT_MS });
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
    { kind: "late", ms: 1.75 * TIMEOUT_MS },
  ] as const;
  const expectations: [ExpectedRevision, number][] = [
    ["none", 2],
    [1, 4],
  ];

  describe.each(lost)("(%o)", (fault) => {
    it.each(expectations)("at %s is in the stream exactly once and answers as ever", async (at, revision) => {
      if (at !== "none") await store.append("link-a", "none", sampleEvents(2));
      const events = sampleEvents(3);
      double.script.add("append", fault);
      expect(await store.append("link-a", at, events)).toMatchObject({ revision });
      const there = await store.read("link-a");
      expect(there.slice(-3).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
      expect(there).toHaveLength(revision + 1);
    });
  });

  it("fails alone: appends in flight beside a lost one succeed", async () => {
    double.script.add("append", { kind: "drop", commit: true });
    const appends = Array.from({ length: 50 }, (_, n) => store.append(`made-${n}`, "none", sampleEvents(2)));
    expect(await Promise.all(appends)).toHaveLength(50);
    for (let n = 0; n < 50; n++) expect(await store.read(`made-${n}`)).toHaveLength(2);
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
    expect(performance.now() - started).toBeLessThan(stretched(3_000));
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

describe("an append above the limit of one request, of which only the first part arrives", () => {
  const large = Array.from({ length: 1000 }, () => sampleEvent({ text: "x".repeat(1000) }));

  it("fails, shows the first part alone, and is completed by the same append", async () => {
    double.script.add("append", { kind: "late", ms: 0 }, { kind: "status", code: 3, details: "broken off" });
    await expect(store.append("clicks-b", "none", large)).rejects.toThrow("broken off");
    const part = (await store.read("clicks-b")).map(({ id }) => id);
    expect(part.length).toBeGreaterThan(0);
    expect(part.length).toBeLessThan(500);
    expect(part).toEqual(large.slice(0, part.length).map(({ id }) => id));
    expect(await store.append("clicks-b", "none", large)).toMatchObject({ revision: 999 });
    expect((await store.read("clicks-b")).map(({ id }) => id)).toEqual(large.map(({ id }) => id));
  });

  it("is refused when another writer appended behind the first part", async () => {
    double.script.add("append", { kind: "late", ms: 0 }, { kind: "status", code: 3, details: "broken off" });
    await expect(store.append("clicks-b", "none", large)).rejects.toThrow("broken off");
    const { length } = await store.read("clicks-b");
    await double.store.append("clicks-b", length - 1, [sampleEvent()]);
    await expect(store.append("clicks-b", "none", large)).rejects.toMatchObject({ actual: length });
  });
});

it.each(["append", "read"] as const)("lets no %s wait behind others that get no answer", async (call) => {
  const hasty = await openEventStoreDb(double.connectionString, {
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
