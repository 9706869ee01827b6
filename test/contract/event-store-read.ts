// The event store contract for reads: streams in both directions, and the whole store by categories.

import { describe, expect, it, onTestFinished } from "vitest";
import { categoryOf } from "../../src/stores/event-store/categories.ts";
import { START } from "../../src/stores/event-store/port.ts";
import { loggedEvents, loggedTexts } from "../support/event-store/logged-events.ts";
import { sampleEvent, sampleEvents } from "../support/event-store/sample-events.ts";
import type { Subject } from "./event-store-fixture.ts";

export function readPromises({ fixture, newCategory, newStream }: Subject): void {
  describe("read", () => {
    it("reads a missing stream as empty", async () => {
      expect(await fixture().store.read(newStream())).toEqual([]);
      expect(await fixture().store.read(newStream(), { backwards: true, limit: 1 })).toEqual([]);
    });

    it("returns what was appended, with stream, revision, position and time", async () => {
      const { store } = fixture();
      const stream = newStream();
      const event = sampleEvent({ text: "Zürich \u{1F517}\u0000\n", nested: { list: [1, null, "x"] } });
      const { position } = await store.append(stream, "none", [event]);
      const [read] = await store.read(stream);
      expect(read).toEqual({ ...event, stream, revision: 0, position, recordedAt: expect.any(String) });
      expect(new Date(read?.recordedAt ?? "").toISOString()).toBe(read?.recordedAt);
    });

    it("reads forwards and backwards, from a revision and up to a limit", async () => {
      const { store } = fixture();
      const stream = newStream();
      await store.append(stream, "none", sampleEvents(6));
      const revisions = async (options: Parameters<typeof store.read>[1]) =>
        (await store.read(stream, options)).map(({ revision }) => revision);
      expect(await revisions({})).toEqual([0, 1, 2, 3, 4, 5]);
      expect(await revisions({ from: 4 })).toEqual([4, 5]);
      expect(await revisions({ from: 1, limit: 2 })).toEqual([1, 2]);
      expect(await revisions({ backwards: true, limit: 2 })).toEqual([5, 4]);
      expect(await revisions({ backwards: true, from: 1 })).toEqual([1, 0]);
      expect(await revisions({ from: 6 })).toEqual([]);
    });
  });

  describe("readAll", () => {
    it("reads all streams of its categories in position order, after a position without it", async () => {
      const { store } = fixture();
      const [a, b, c] = [newStream(), newStream(), newStream()];
      const categories = [a, b].map(categoryOf);
      for (const [stream, expected] of [
        [a, "none"],
        [c, "none"],
        [b, "none"],
        [a, 0],
        [c, 0],
        [b, 0],
      ] as const)
        await store.append(stream, expected, [sampleEvent()]);
      const all = await loggedEvents(store, { categories, limit: 100 });
      expect(all.map(({ stream }) => stream)).toEqual([a, b, a, b]);
      expect(all.map(({ position }) => position)).toEqual(all.map(({ position }) => position).toSorted());
      const remaining = await loggedEvents(store, { categories, after: all[1]?.position, limit: 100 });
      expect(remaining).toEqual(all.slice(2));
      expect(await loggedEvents(store, { categories, after: all[0]?.position, limit: 2 })).toEqual(
        all.slice(1, 3),
      );
      expect(await loggedEvents(store, { categories, after: all[3]?.position, limit: 2 })).toEqual([]);
    });

    it("reads from the position of an event on, with it, also within a batch", async () => {
      const { store } = fixture();
      const stream = newStream();
      await store.append(stream, "none", sampleEvents(3));
      await store.append(stream, 2, sampleEvents(40));
      const all = await loggedEvents(store, { categories: [categoryOf(stream)], limit: 100 });
      for (const n of [0, 1, 3, 20, 42])
        expect(
          await loggedEvents(store, { categories: [categoryOf(stream)], from: all[n]?.position, limit: 100 }),
        ).toEqual(all.slice(n));
      expect(
        await loggedEvents(store, { categories: [categoryOf(stream)], from: all[5]?.position, limit: 2 }),
      ).toEqual(all.slice(5, 7));
    });

    it("takes a category by its whole name, also of a stream without a dash", async () => {
      const { store } = fixture();
      const category = newCategory("link");
      const streams = [`${category}-a`, `${category}-b-c`, category];
      for (const stream of [...streams, `${category}x-a`, `x${category}-a`])
        await store.append(stream, "none", [sampleEvent()]);
      const read = await loggedEvents(store, { categories: [category], limit: 100 });
      expect(read.map((event) => event.stream)).toEqual(streams);
    });

    it("returns an event once when its category is named twice", async () => {
      const { store } = fixture();
      const stream = newStream();
      await store.append(stream, "none", sampleEvents(2));
      const categories = [categoryOf(stream), categoryOf(stream)];
      expect(await loggedEvents(store, { categories, limit: 100 })).toHaveLength(2);
    });

    it("reads nothing of a category without streams, and of no category", async () => {
      const { store } = fixture();
      expect(await loggedEvents(store, { categories: [newCategory()], limit: 10 })).toEqual([]);
      expect(await loggedEvents(store, { categories: [], limit: 10 })).toEqual([]);
    });
  });

  describe("readStored", () => {
    it("has every event of its categories in position order, as the texts that were appended", async () => {
      const { store, prefix } = fixture();
      const after = await store.head();
      const streams = [newStream(), newCategory("clicks"), `${prefix}-x`];
      const odd = { text: "Zürich \u{1F517}\u0000\n", 10: [1e21, -0.5], 2: { ["__proto__"]: null } };
      const categories = streams.map(categoryOf);
      for (const stream of [...streams, newStream()])
        await store.append(stream, "none", [sampleEvent(odd), sampleEvent()]);
      const own = (position: string | undefined) =>
        loggedTexts(store, { after: position, categories, limit: 1_000 });
      const stored = (await own(after)).filter(({ stream }) => streams.includes(stream));
      const events = (await Promise.all(streams.map((stream) => store.read(stream)))).flat();
      expect(stored.map(({ data, metadata: _, ...event }) => ({ ...event, data: JSON.parse(data) }))).toEqual(
        events.map(({ metadata: _, ...event }) => event),
      );
      expect(stored[0]?.data).toBe(JSON.stringify(odd));
      expect(JSON.parse(stored[0]?.metadata ?? "")).toMatchObject({ schemaVersion: 1 });
      expect(await own(stored[2]?.position)).toEqual(stored.slice(3));
      expect(await loggedTexts(store, { after, categories, limit: 1 })).toHaveLength(1);
      expect(await loggedTexts(store, { after: stored[0]?.position, categories, limit: 0 })).toEqual([]);
    });
  });

  describe("structureProblems", () => {
    it("are none of a store that only this program has written", async () => {
      const { store } = fixture();
      const streams = [newStream(), newCategory("clicks")];
      for (const stream of streams) await store.append(stream, "none", sampleEvents(3));
      expect(await store.structureProblems(streams.map(categoryOf))).toEqual([]);
    });
  });

  describe("newestOf", () => {
    it("says how far a category goes, whichever handle appended", async () => {
      const { store, openAnother } = fixture();
      if (!store.newestOf) return;
      const category = newCategory();
      expect(await store.newestOf(category)).toBe(START);
      const { position } = await store.append(`${category}-a`, "none", sampleEvents(3));
      expect(await store.newestOf(category)).toBe(position);
      const another = await openAnother();
      onTestFinished(() => another.close());
      const later = await another.append(`${category}-a`, 2, [sampleEvent()]);
      await store.append(newStream(), "none", [sampleEvent()]);
      expect(await store.newestOf(category)).toBe(later.position);
    });
  });

  describe("head", () => {
    it("is the position of the last event", async () => {
      const { store } = fixture();
      const { position } = await store.append(newStream(), "none", sampleEvents(2));
      const head = await store.head();
      expect(head >= position).toBe(true);
      expect(head > START).toBe(true);
    });
  });

  describe("idAt", () => {
    it("is the id of the event at a position, and nothing where none is", async () => {
      const { store } = fixture();
      const stream = newStream();
      const events = sampleEvents(3);
      await store.append(stream, "none", events);
      for (const { position, id } of await store.read(stream)) expect(await store.idAt(position)).toBe(id);
      expect(await store.idAt(START)).toBeUndefined();
      expect(await store.idAt((await store.head()).replace(/[0-8]/g, "9"))).toBeUndefined();
    });
  });

  describe("a page", () => {
    it("says up to where it looked, also where it found nothing, and goes on from there", async () => {
      const { store } = fixture();
      const [stream, other] = [newStream(), newStream()];
      const categories = [categoryOf(stream)];
      await store.append(stream, "none", sampleEvents(3));
      const { position: head } = await store.append(other, "none", sampleEvents(2));
      for (const read of [store.readAll, store.readStored]) {
        const cut = await read({ after: START, categories, limit: 2 });
        expect(cut.next).toBe(cut.events.at(-1)?.position);
        const rest = await read({ after: cut.next, categories, limit: 2 });
        expect(rest.events).toHaveLength(1);
        expect(rest.next >= head).toBe(true);
        expect(await read({ after: rest.next, categories, limit: 2 })).toMatchObject({ events: [] });
      }
      const { next } = await store.readAll({ after: START, categories: [newCategory()], limit: 2 });
      expect(next >= head).toBe(true);
    });

    it("is of START or the position of an event: whatever else is refused alike", async () => {
      const { store } = fixture();
      const own = await store.head();
      const signal = new AbortController().signal;
      const categories = [newCategory()];
      for (const position of ["", "0", "x", `${own}0`, own.slice(1), ` ${own}`, "--"]) {
        const refused = expect.objectContaining({ code: "invalid_position" });
        const reads = [
          () => store.readAll({ after: position, categories, limit: 1 }),
          () => store.readAll({ from: position, categories, limit: 1 }),
          () => store.readStored({ after: position, categories, limit: 1 }),
          () => store.idAt(position),
          () => store.subscribe({ after: position, categories, signal })[Symbol.asyncIterator]().next(),
        ];
        for (const read of reads) await expect(read()).rejects.toEqual(refused);
      }
    });
  });
}
