// A cluster of the event store that loses its leader: two doubles, of which the one that follows names the leader.
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { StoreUnavailable } from "../../src/stores/connections/errors.ts";
import { openEventStoreDb } from "../../src/stores/event-store/eventstoredb/event-store.ts";
import type { EventStore } from "../../src/stores/event-store/port.ts";
import { type EventStoreDbDouble, startDouble } from "../support/event-store/eventstoredb-double/double.ts";
import { sampleEvents } from "../support/event-store/sample-events.ts";
import { subscribed } from "../support/event-store/subscribed.ts";

let first: EventStoreDbDouble;
let second: EventStoreDbDouble;
let store: EventStore;
let url: string;
beforeEach(async () => {
  [first, second] = await Promise.all([startDouble(), startDouble()]);
  nameLeader(first);
  const seeds = [first, second].map(({ wire }) => `127.0.0.1:${wire.port}`).join(",");
  const options = { timeoutMs: 2_000, silenceMs: 300, random: () => 0 };
  url = `esdb://${seeds}?tls=false`;
  store = await openEventStoreDb(url, options);
});
afterEach(async () => {
  await store.close();
  await Promise.all([first.close(), second.close()]);
});

/** Undefined: an election is going on, and both are told to follow. */
function nameLeader(leader: EventStoreDbDouble | undefined): void {
  const members = [first, second].map((node) => ({
    port: node.wire.port,
    state: node === leader ? ("Leader" as const) : ("Follower" as const),
  }));
  for (const node of [first, second]) node.members.splice(0, node.members.length, ...members);
}

it("is read, appended to and followed at its leader, and at the next one when that is lost", async () => {
  const events = sampleEvents(2);
  await store.append("clicks-a", "none", events);
  expect([first, second].map(({ script }) => script.counts.append)).toEqual([1, 0]);
  await second.store.append("clicks-a", "none", events);
  const subscription = subscribed(store, { categories: ["clicks"] });
  const seen = await subscription.take(2);

  await first.wire.close();
  nameLeader(second);
  expect(await store.read("clicks-a")).toHaveLength(2);
  expect(await store.append("clicks-a", 1, sampleEvents(1))).toMatchObject({ revision: 2 });
  seen.push(...(await subscription.take(1)));
  expect(seen.map(({ revision }) => revision)).toEqual([0, 1, 2]);
  expect(second.script.counts.append).toBe(1);
});

it("is unavailable while no node leads, also to a call that is lost during the search for one", async () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (error: unknown) => void unhandled.push(error);
  process.on("unhandledRejection", onUnhandled);
  onTestFinished(() => void process.off("unhandledRejection", onUnhandled));
  const next = subscribed(store, { categories: ["link"] }).take(1);
  await first.script.seen("subscribe", 1);

  for (const node of [first, second]) node.members.splice(0);
  const connections = () => first.wire.accepted + second.wire.accepted;
  const before = connections();
  first.script.add("append", { kind: "status", code: 14 });
  const events = sampleEvents(1);
  const refused = expect(store.append("link-a", "none", events)).rejects.toThrow(StoreUnavailable);
  await expect.poll(connections).toBeGreaterThan(before);
  first.wire.cut();
  await refused;

  nameLeader(second);
  await store.append("link-a", "none", events);
  expect(await next).toHaveLength(1);
  expect(unhandled).toEqual([]);
});

it("is asked at its next leader when the one before steps down and stays reachable", async () => {
  await store.append("clicks-a", "none", sampleEvents(2));
  nameLeader(second);
  await second.store.append("clicks-a", "none", sampleEvents(3));
  expect(await store.read("clicks-a")).toHaveLength(3);
  nameLeader(first);
  expect(await store.append("clicks-a", 1, sampleEvents(1))).toMatchObject({ revision: 2 });
  nameLeader(second);
  expect(await store.append("clicks-a", 2, sampleEvents(30))).toMatchObject({ revision: 32 });
});
