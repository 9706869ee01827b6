// A cluster of the event store that loses its leader: two doubles that name each other in their gossip.
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { openEventStoreDb } from "../../src/event-store/eventstoredb/event-store.ts";
import type { EventStore, RecordedEvent } from "../../src/event-store/port.ts";
import {
  type EventStoreDbDouble,
  type Scheme,
  startDouble,
} from "../support/event-store/eventstoredb-double/double.ts";
import { sampleEvents } from "../support/event-store/sample-events.ts";

export function clusterFaults(scheme: Scheme): void {
  let first: EventStoreDbDouble;
  let second: EventStoreDbDouble;
  let store: EventStore;
  beforeEach(async () => {
    [first, second] = await Promise.all([startDouble(), startDouble()]);
    nameLeader(first);
    const seeds = [first, second].map(({ wire }) => `127.0.0.1:${wire.port}`).join(",");
    const options = { timeoutMs: 2_000, silenceMs: 300, random: () => 0 };
    store = await openEventStoreDb(`${scheme}://${seeds}?tls=false`, options);
  });
  afterEach(async () => {
    await store.close();
    await Promise.all([first.close(), second.close()]);
  });

  function nameLeader(leader: EventStoreDbDouble): void {
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
    const signal = AbortSignal.timeout(30_000);
    const batches = store.subscribe({ prefixes: ["clicks-"], signal })[Symbol.asyncIterator]();
    onTestFinished(async () => void (await batches.return?.()));
    const seen: RecordedEvent[] = [];
    while (seen.length < 2) seen.push(...((await batches.next()).value as RecordedEvent[]));

    await first.wire.close();
    nameLeader(second);
    expect(await store.read("clicks-a")).toHaveLength(2);
    expect(await store.append("clicks-a", 1, sampleEvents(1))).toMatchObject({ revision: 2 });
    while (seen.length < 3) seen.push(...((await batches.next()).value as RecordedEvent[]));
    expect(seen.map(({ revision }) => revision)).toEqual([0, 1, 2]);
    expect(second.script.counts.append).toBe(1);
  });
}
