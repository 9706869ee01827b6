// Subscriptions and reads of EventStoreDB when the server ends them, loses them, repeats itself or falls silent.

import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { openEventStoreDb } from "../../src/stores/event-store/eventstoredb/event-store.ts";
import {
  type EventStore,
  type RecordedEvent,
  START,
  type SubscribeOptions,
} from "../../src/stores/event-store/port.ts";
import { type EventStoreDbDouble, startDouble } from "../support/event-store/eventstoredb-double/double.ts";
import type { SubscriptionFault } from "../support/event-store/eventstoredb-double/faults.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { sampleEvent, sampleEvents } from "../support/event-store/sample-events.ts";
import { subscribed } from "../support/event-store/subscribed.ts";

let double: EventStoreDbDouble;
let store: EventStore;

beforeEach(async () => {
  double = await startDouble();
  store = await openEventStoreDb(double.connectionString, {
    timeoutMs: 400,
    silenceMs: 300,
    random: () => 0,
  });
});

afterEach(async () => {
  await store.close();
  await double.close();
});

/** Takes that many events, one batch after the other; the subscription ends with it. */
async function take(count: number, options: Partial<SubscribeOptions> = {}): Promise<RecordedEvent[]> {
  const seen: RecordedEvent[] = [];
  const { signal } = new AbortController();
  for await (const batch of store.subscribe({ after: START, categories: ["clicks"], signal, ...options })) {
    seen.push(...batch.events);
    if (seen.length >= count) return seen;
  }
  return seen;
}

describe("a subscription", () => {
  const faults: SubscriptionFault[] = [
    { kind: "end", after: 70 },
    { kind: "cut", after: 70 },
    { kind: "stuck", after: 70 },
    { kind: "status", code: 14, after: 70 },
    { kind: "status", code: 1, after: 70 },
    { kind: "status", code: 2, after: 70 },
    { kind: "repeat", after: 0 },
    { kind: "early-checkpoints", after: 0 },
    { kind: "end", after: 0 },
  ];

  it.each(faults)("delivers every event once and in order when its server does %o", async (fault) => {
    await double.store.append("clicks-a", "none", sampleEvents(150));
    double.script.add("subscribe", fault);
    const seen = await take(150);
    expect(seen.map(({ revision }) => revision)).toEqual([...Array(150).keys()]);
  });

  it("delivers what its stuck server kept back also when the clock was set back meanwhile", async () => {
    await double.store.append("clicks-a", "none", sampleEvents(2));
    double.script.add("subscribe", { kind: "stuck", after: 1 });
    const subscription = subscribed(store, { categories: ["clicks"] });
    expect(await subscription.take(1)).toHaveLength(1);
    vi.useFakeTimers({ toFake: ["Date"], shouldAdvanceTime: true, now: Date.now() - 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await subscription.take(1)).toHaveLength(1);
  });

  it("survives a server that is unavailable, and continues at its position", async () => {
    await double.store.append("clicks-a", "none", sampleEvents(10));
    const subscription = subscribed(store, { categories: ["clicks"] });
    const seen = await subscription.take(10);
    await double.wire.close();
    const next = subscription.take(1);
    await double.store.append("clicks-a", 9, sampleEvents(1));
    await expect(store.head()).rejects.toMatchObject({ code: "store_unavailable" });
    await double.wire.open();
    seen.push(...(await next));
    expect(seen.map(({ revision }) => revision)).toEqual([...Array(11).keys()]);
  });

  it("throws what is not transient to its consumer", async () => {
    await expect(take(1, { after: "00000000000000000007:00000000000000000007" })).rejects.toMatchObject({
      code: "invalid_position",
    });
    await expect(take(1, { after: "00000000000000000007" })).rejects.toMatchObject({
      code: "invalid_position",
    });
  });
});

describe("a read", () => {
  it("is retried when no answer comes in time", async () => {
    await store.append("link-a", "none", sampleEvents(2));
    double.script.add("read", { kind: "silent", commit: false }, { kind: "drop", commit: false });
    expect(await store.read("link-a")).toHaveLength(2);
    expect(double.script.counts.read).toBe(3);
  });

  it("of events that are no JSON brings each with the reason, and those beside them", async () => {
    const json = { contentType: "application/json", data: Buffer.from("{}"), metadata: Buffer.from("{}") };
    double.log.append("clicks-a", -1, [
      { ...json, id: crypto.randomUUID(), type: "Torn", data: Buffer.from('{"a":') },
      { ...json, id: crypto.randomUUID(), type: "Empty", data: Buffer.alloc(0) },
      { ...json, id: crypto.randomUUID(), type: "List", metadata: Buffer.from("[]") },
      { ...json, id: crypto.randomUUID(), type: "Sound" },
    ]);
    for (const events of [
      await store.read("clicks-a"),
      await loggedEvents(store, { categories: ["clicks"], limit: 10 }),
      await take(4),
    ])
      expect(events.map(({ type, unreadable }) => [type, unreadable])).toEqual([
        ["Torn", expect.stringMatching(/no JSON/)],
        ["Empty", expect.stringMatching(/no JSON/)],
        ["List", expect.stringMatching(/metadata/)],
        ["Sound", undefined],
      ]);
  });

  it("throws StoreUnavailable while the server is unavailable, and works afterwards", async () => {
    await double.wire.close();
    await expect(store.read("link-a")).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(loggedEvents(store, { categories: ["link"], limit: 1 })).rejects.toMatchObject({
      code: "store_unavailable",
    });
    await double.wire.open();
    expect(await store.read("link-a")).toEqual([]);
  });
});

describe("opening and closing", () => {
  it("opens while no server answers, and works as soon as one does", async () => {
    await double.wire.close();
    const later = await openEventStoreDb(double.connectionString);
    await expect(later.head()).rejects.toMatchObject({ code: "store_unavailable" });
    await double.wire.open();
    expect(await later.append("link-a", "none", [sampleEvent()])).toMatchObject({ revision: 0 });
    await later.close();
  });

  it("finishes appends in flight, ends subscriptions and refuses later calls", async () => {
    double.script.add("append", { kind: "late", ms: 100 });
    const append = store.append("link-a", "none", [sampleEvent()]);
    const subscribed = take(1);
    await double.script.seen("append", 1);
    await store.close();
    await store.close();
    expect(await append).toMatchObject({ revision: 0 });
    expect(await subscribed).toEqual([]);
    await expect(store.read("link-a")).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(store.append("link-a", 0, [sampleEvent()])).rejects.toMatchObject({
      code: "store_unavailable",
    });
  });
});
