// Lost connections to a real EventStoreDB or KurrentDB; contracts and properties run on it from their own files.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEventStoreDb } from "../../src/stores/event-store/eventstoredb/event-store.ts";
import { type RecordedEvent, START } from "../../src/stores/event-store/port.ts";
import { Wire } from "../support/event-store/eventstoredb-double/wire.ts";
import { sampleEvents } from "../support/event-store/sample-events.ts";
import {
  deleteStreams,
  eventStoreDb,
  eventStoreUrl,
  newPrefix,
} from "../support/servers/eventstoredb-server.ts";
import { onServer } from "../support/servers/test-servers.ts";

/** A single node without TLS can be reached through a wire of ours; certificates and gossip name the true address. */
const plain = /^((?:esdb|kurrentdb):\/\/(?:[^@/]*@)?)([^:,?/]+):(\d+)\/?(\?(?:.*&)?tls=false.*)$/.exec(
  eventStoreUrl ?? "",
);

onServer(eventStoreDb, () => {
  describe.skipIf(!plain)("EventStoreDB behind a network that loses connections", () => {
    const [, scheme, host, port, query] = plain ?? [];
    const wire = new Wire(Number(port), host);
    const prefix = newPrefix();
    beforeAll(() => wire.open());
    afterAll(async () => {
      await wire.close();
      await deleteStreams(eventStoreUrl ?? "", prefix);
    });
    const open = () => openEventStoreDb(`${scheme}127.0.0.1:${wire.port}${query}`);

    it("has every batch of a writer exactly once, in order", async () => {
      const store = await open();
      const ids: string[] = [];
      let revision: number | "none" = "none";
      for (let batch = 0; batch < 40; batch++) {
        const events = sampleEvents(25);
        ids.push(...events.map(({ id }) => id));
        const append = store.append(`${prefix}a-1`, revision, events);
        if (batch % 4 === 1) setTimeout(() => wire.cut(), batch % 7);
        revision = (await append).revision;
      }
      expect((await store.read(`${prefix}a-1`)).map(({ id }) => id)).toEqual(ids);
      await store.close();
    });

    it("delivers every event to a subscription once, in order", async () => {
      const [store, direct] = [await open(), await openEventStoreDb(eventStoreUrl ?? "")];
      const stream = `${prefix}b-1`;
      await direct.append(stream, "none", sampleEvents(500));
      const seen: RecordedEvent[] = [];
      // By events, as some servers send batches, and some each event alone.
      let nextCut = 150;
      const signal = AbortSignal.timeout(60_000);
      for await (const batch of store.subscribe({
        after: START,
        categories: [`${prefix}b`],
        signal,
        batchSize: 100,
      })) {
        seen.push(...batch.events);
        if (seen.length >= 1000) break;
        if (seen.length >= nextCut) {
          wire.cut();
          nextCut += 150;
        }
        if (seen.length >= 500 && seen.at(-1)?.revision === 499)
          await direct.append(stream, 499, sampleEvents(500));
      }
      expect(seen.map(({ revision }) => revision)).toEqual([...Array(1000).keys()]);
      await store.close();
      await direct.close();
    }, 90_000);
  });
});
