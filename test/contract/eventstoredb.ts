// What the EventStoreDB adapter promises beside the contract: foreign events, large appends, connection strings.

import {
  binaryEvent,
  type EventData,
  type EventStoreDBClient,
  jsonEvent,
  NO_STREAM,
  type StreamMetadata,
} from "@eventstore/db-client";
import { beforeAll, describe, expect, it } from "vitest";
import { categoryOf } from "../../src/stores/event-store/categories.ts";
import { Servers } from "../../src/stores/event-store/eventstoredb/connection.ts";
import { openEventStoreDb } from "../../src/stores/event-store/eventstoredb/event-store.ts";
import { type RecordedEvent, START, StreamRemoved } from "../../src/stores/event-store/port.ts";
import type { EventStoreDbFixture } from "../support/event-store/eventstoredb-fixture.ts";
import { loggedEvents, loggedTexts } from "../support/event-store/logged-events.ts";
import { sampleEvent, sampleEvents } from "../support/event-store/sample-events.ts";
import { officialClient } from "../support/servers/eventstoredb-server.ts";
import { subjectOn } from "./event-store.ts";

export function eventStoreDbPromises(name: string, open: () => Promise<EventStoreDbFixture>): void {
  describe(`event store: ${name}, alone`, () => {
    let opened: EventStoreDbFixture;
    const { fixture, newStream } = subjectOn(async () => {
      opened = await open();
      return opened;
    });

    /** By another program, with whatever data and metadata. */
    async function appendForeign(stream: string, ...events: EventData[]): Promise<void> {
      const client = officialClient(opened.url);
      const { credentials } = new Servers(opened.url);
      await client.appendToStream(stream, events, { credentials, expectedRevision: NO_STREAM });
      await client.dispose();
    }

    describe("events that can't be read", () => {
      const reasons = [/content type/, /no JSON/, /metadata/, /metadata/, undefined];
      let stream: string;
      beforeAll(async () => {
        stream = newStream();
        const metadata = { schemaVersion: 1 };
        await appendForeign(
          stream,
          binaryEvent({ type: "Binary", data: Buffer.from([1, 2, 3]), metadata }),
          jsonEvent({ type: "Text", data: "a text alone", metadata }),
          jsonEvent({ type: "Odd", data: {}, metadata: Buffer.from("{ no JSON") }),
          jsonEvent({ type: "Bare", data: {} }),
          jsonEvent({ type: "Sound", data: { n: 1 }, metadata }),
        );
      });
      const subscribed = async () => {
        const signal = AbortSignal.timeout(30_000);
        const seen: RecordedEvent[] = [];
        for await (const batch of fixture().store.subscribe({
          after: START,
          categories: [categoryOf(stream)],
          signal,
        })) {
          seen.push(...batch.events);
          if (seen.length >= reasons.length) break;
        }
        return seen;
      };
      const ways: [string, () => Promise<RecordedEvent[]>][] = [
        ["a read of their stream", () => fixture().store.read(stream)],
        [
          "a read of their category",
          () => loggedEvents(fixture().store, { categories: [categoryOf(stream)], limit: 9 }),
        ],
        ["a subscription", subscribed],
      ];

      it.each(ways)(
        "come with the reason, their type and their place among the others in %s",
        async (_, read) => {
          const events = await read();
          expect(events.map(({ type, revision }) => `${revision} ${type}`)).toEqual(
            ["Binary", "Text", "Odd", "Bare", "Sound"].map((type, revision) => `${revision} ${type}`),
          );
          for (const [n, reason] of reasons.entries()) {
            const { unreadable, data } = events[n] as RecordedEvent;
            expect(unreadable ?? "").toMatch(reason ?? /^$/);
            expect(data).toEqual(reason ? null : { n: 1 });
          }
        },
      );
    });

    describe("what can't be sent", () => {
      it("is refused before the client sees it: a bigint, a cycle, a text alone, nothing at all", async () => {
        const stream = newStream();
        const cycle: Record<string, unknown> = {};
        cycle.self = cycle;
        for (const data of [{ count: 1n }, cycle, "text", new Date(), undefined])
          await expect(fixture().store.append(stream, "none", [{ ...sampleEvent(), data }])).rejects.toThrow(
            TypeError,
          );
        await expect(fixture().store.append(stream, "none", [])).rejects.toThrow(RangeError);
        expect(await fixture().store.read(stream)).toEqual([]);
      });

      it("is refused by the server in words when one event is too large, and nothing else suffers", async () => {
        const [stream, other] = [newStream(), newStream()];
        // Servers before 26 take 1 MiB; the client itself sends at most 16 MiB to any.
        const tooLarge = [sampleEvent({ text: "x".repeat(1_200_000) })];
        const large = fixture()
          .store.append(stream, "none", tooLarge)
          .catch((error: unknown) => error);
        const small = fixture().store.append(other, "none", sampleEvents(2));
        expect(await small).toMatchObject({ revision: 1 });
        const outcome = await large;
        if (!(outcome instanceof Error)) expect(outcome).toMatchObject({ revision: 0 });
        else expect(outcome.message).toMatch(/size/i);
      });
    });

    describe("an append above 400 KiB or 500 events", () => {
      const text = "x".repeat(1_000);
      const large = Array.from({ length: 1_000 }, () => sampleEvent({ text }));

      it.each([
        ["events", sampleEvents(1_200)],
        ["bytes", large],
      ])(
        "arrives whole and in order when it is above the limit of %s, also when it comes again",
        async (_, events) => {
          const { store } = fixture();
          const stream = newStream();
          const first = await store.append(stream, "none", events);
          expect(first).toMatchObject({ revision: events.length - 1 });
          expect(await store.append(stream, "none", events)).toEqual(first);
          expect((await store.read(stream)).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
        },
      );

      it("is completed by the same append after only its first part arrived", async () => {
        const { store } = fixture();
        const stream = newStream();
        const events = sampleEvents(1_200);
        await store.append(stream, "none", events.slice(0, 500));
        expect(await store.append(stream, "none", events)).toMatchObject({ revision: 1_199 });
        expect((await store.read(stream)).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
      });
    });

    describe("a stream that somebody deleted or cut on the server", () => {
      type Act = (client: EventStoreDBClient, stream: string) => Promise<unknown>;
      const metadata =
        (own: StreamMetadata): Act =>
        (client, stream) =>
          client.setStreamMetadata(stream, own, { credentials: new Servers(opened.url).credentials });
      const deleted = /^it was deleted on the server$/;
      const cases: [string, Act, what: RegExp][] = [
        ["deleted", (client, stream) => client.deleteStream(stream), deleted],
        ["deleted for good", (client, stream) => client.tombstoneStream(stream), /was deleted for good/],
        ["cut", metadata({ truncateBefore: 2 }), /events before revision 2 were cut on the server \(\$tb\)/],
        ["cut at its end", metadata({ truncateBefore: 3 }), /events before revision 3 were cut/],
        ["bounded", metadata({ maxCount: 1 }), /only its last 1 events are kept .*\(\$maxCount\)/],
      ];
      const changed = async (act: Act) => {
        const { store } = fixture();
        const stream = newStream();
        const after = await store.head();
        const events = sampleEvents(3);
        await store.append(stream, "none", events);
        const client = officialClient(opened.url);
        await act(client, stream);
        await client.dispose();
        return { store, stream, after, events };
      };

      it.each(cases)("is told when it was %s, and no read says that it isn't there", async (_, act, what) => {
        const { store, stream, after, events } = await changed(act);
        const problems = await store.structureProblems([categoryOf(stream)]);
        expect(problems).toEqual([{ stream, what: expect.stringMatching(what) }]);
        const stored = await loggedTexts(store, { after, categories: [categoryOf(stream)], limit: 1_000 });
        const own = stored.filter((text) => text.stream === stream);
        expect(own.map(({ id }) => id)).toEqual(events.map(({ id }) => id));
        const error = await store.read(stream).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(StreamRemoved);
        expect(error).toMatchObject({
          what: expect.stringMatching(what),
          message: expect.stringContaining(stream),
        });
      });

      it("refuses to begin anew, as its numbers would go on behind those that were deleted", async () => {
        const { store, stream } = await changed((client, name) => client.deleteStream(name));
        await expect(store.append(stream, "none", [sampleEvent()])).rejects.toThrow(StreamRemoved);
        await expect(store.read(stream)).rejects.toThrow(/events before revision 3 were cut/);
      });

      it("refuses an append after it was deleted for good", async () => {
        const { store, stream } = await changed((client, name) => client.tombstoneStream(name));
        for (const at of ["none", 2] as const)
          await expect(store.append(stream, at, [sampleEvent()])).rejects.toThrow(/was deleted for good/);
      });

      it("is read behind the cut, as by who knows what was before", async () => {
        const { store, stream } = await changed(metadata({ truncateBefore: 2 }));
        expect(await store.read(stream, { from: 2 })).toHaveLength(1);
        expect(await store.read(stream, { from: 3 })).toEqual([]);
      });

      it("is told when its events are kept for some time only, while they are there", async () => {
        const { store, stream } = await changed(metadata({ maxAge: 3_600 }));
        expect(await store.structureProblems([categoryOf(stream)])).toContainEqual({
          stream,
          what: "its events are kept for 3600 s on the server ($maxAge)",
        });
        expect(await store.read(stream)).toHaveLength(3);
      });
    });

    it("takes the address as kurrentdb:// too", async () => {
      const store = await openEventStoreDb(opened.url.replace(/^esdb/, "kurrentdb"));
      expect(await store.append(newStream(), "none", [sampleEvent()])).toMatchObject({ revision: 0 });
      await store.close();
    });
  });
}
