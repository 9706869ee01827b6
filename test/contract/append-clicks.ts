// Clicks are appended once, whatever an earlier attempt or somebody else has left in their stream.
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { appendClicks } from "../../src/redirect/clicks/append-clicks.ts";
import type { EventStore } from "../../src/stores/event-store/port.ts";
import { sampleEvents } from "../support/event-store/sample-events.ts";

export function appendClicksContract(
  name: string,
  open: () => Promise<{ store: EventStore; close(): Promise<void> }>,
) {
  describe(`appending clicks: ${name}`, () => {
    let store: EventStore;
    beforeAll(async () => {
      const opened = await open();
      ({ store } = opened);
      return () => opened.close();
    });
    const newStream = () => `clicks-${randomUUID().replaceAll("-", "")}-20260501`;
    const idsIn = async (stream: string) => (await store.read(stream)).map(({ id }) => id);
    const ids = (...lists: { id: string }[][]) => lists.flat().map(({ id }) => id);

    it("again, or again and longer, adds what is missing alone", async () => {
      const stream = newStream();
      const events = sampleEvents(6);
      expect(await appendClicks(store, { stream, after: -1, events: events.slice(0, 2) })).toMatchObject({
        revision: 1,
      });
      expect(await appendClicks(store, { stream, after: -1, events: events.slice(0, 2) })).toMatchObject({
        revision: 1,
      });
      expect(await appendClicks(store, { stream, after: -1, events: events.slice(0, 4) })).toMatchObject({
        revision: 3,
      });
      expect(await appendClicks(store, { stream, after: 1, events: events.slice(2) })).toMatchObject({
        revision: 5,
      });
      expect(await idsIn(stream)).toEqual(ids(events));
    });

    it("that should follow others which are not there puts them at the end, once", async () => {
      const stream = newStream();
      const [first, second, third] = [sampleEvents(3), sampleEvents(2), sampleEvents(2)];
      expect(await appendClicks(store, { stream, after: 41, events: first })).toMatchObject({ revision: 2 });
      expect(await appendClicks(store, { stream, after: 41, events: first })).toMatchObject({ revision: 2 });
      expect(await appendClicks(store, { stream, after: 44, events: second })).toMatchObject({ revision: 4 });
      // Those before them were found after all.
      expect(await appendClicks(store, { stream, after: -1, events: third })).toMatchObject({ revision: 6 });
      expect(await idsIn(stream)).toEqual(ids(first, second, third));
    });

    it("of two processes at once leaves each click once", async () => {
      const stream = newStream();
      const events = sampleEvents(5);
      const batches = [events.slice(0, 3), events, events.slice(0, 1), events.slice(0, 4)];
      const appendAll = async (batch: typeof events) => {
        for (let isThere = false; !isThere; )
          isThere = await appendClicks(store, { stream, after: -1, events: batch }).then(
            () => true,
            () => false,
          );
      };
      await Promise.all(batches.map(appendAll));
      expect((await idsIn(stream)).toSorted()).toEqual(ids(events).toSorted());
    });
  });
}
