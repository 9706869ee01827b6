// The event store contract for reads: streams in both directions, and the whole store by categories.
import { describe, expect, it, onTestFinished } from "vitest";
import { categoryOf } from "../../src/stores/event-store/categories.ts";
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
      const all = await store.readAll({ categories, limit: 100 });
      expect(all.map(({ stream }) => stream)).toEqual([a, b, a, b]);
      expect(all.map(({ position }) => position)).toEqual(all.map(({ position }) => position).toSorted());
      const remaining = await store.readAll({ categories, after: all[1]?.position, limit: 100 });
      expect(remaining).toEqual(all.slice(2));
      expect(await store.readAll({ categories, after: all[0]?.position, limit: 2 })).toEqual(all.slice(1, 3));
      expect(await store.readAll({ categories, after: all[3]?.position, limit: 2 })).toEqual([]);
    });

    it("reads from the position of an event on, with it, also within a batch", async () => {
      const { store } = fixture();
      const stream = newStream();
      await store.append(stream, "none", sampleEvents(3));
      await store.append(stream, 2, sampleEvents(40));
      const all = await store.readAll({ categories: [categoryOf(stream)], limit: 100 });
      for (const n of [0, 1, 3, 20, 42])
        expect(
          await store.readAll({ categories: [categoryOf(stream)], from: all[n]?.position, limit: 100 }),
        ).toEqual(all.slice(n));
      expect(
        await store.readAll({ categories: [categoryOf(stream)], from: all[5]?.position, limit: 2 }),
      ).toEqual(all.slice(5, 7));
    });

    it("takes a category by its whole name, also of a stream without a dash", async () => {
      const { store } = fixture();
      const category = newCategory("link");
      const streams = [`${category}-a`, `${category}-b-c`, category];
      for (const stream of [...streams, `${category}x-a`, `x${category}-a`])
        await store.append(stream, "none", [sampleEvent()]);
      const read = await store.readAll({ categories: [category], limit: 100 });
      expect(read.map((event) => event.stream)).toEqual(streams);
    });

    it("returns an event once when its category is named twice", async () => {
      const { store } = fixture();
      const stream = newStream();
      await store.append(stream, "none", sampleEvents(2));
      const categories = [categoryOf(stream), categoryOf(stream)];
      expect(await store.readAll({ categories, limit: 100 })).toHaveLength(2);
    });

    it("reads nothing of a category without streams, and of no category", async () => {
      const { store } = fixture();
      expect(await store.readAll({ categories: [newCategory()], limit: 10 })).toEqual([]);
      expect(await store.readAll({ categories: [], limit: 10 })).toEqual([]);
    });
  });

  describe("readStored", () => {
    it("has every event of every category in position order, as the texts that were appended", async () => {
      const { store, prefix } = fixture();
      const after = await store.head();
      const streams = [newStream(), newCategory("clicks"), `${prefix}-x`];
      const odd = { text: "Zürich \u{1F517}\u0000\n", 10: [1e21, -0.5], 2: { ["__proto__"]: null } };
      for (const stream of streams) await store.append(stream, "none", [sampleEvent(odd), sampleEvent()]);
      const own = async (position?: string) =>
        (await store.readStored({ after: position, limit: 1_000 })).filter(({ stream }) =>
          streams.includes(stream),
        );
      const stored = await own(after);
      const events = (await Promise.all(streams.map((stream) => store.read(stream)))).flat();
      expect(stored.map(({ data, metadata: _, ...event }) => ({ ...event, data: JSON.parse(data) }))).toEqual(
        events.map(({ metadata: _, ...event }) => event),
      );
      expect(stored[0]?.data).toBe(JSON.stringify(odd));
      expect(JSON.parse(stored[0]?.metadata ?? "")).toMatchObject({ schemaVersion: 1 });
      expect(await own(stored[2]?.position)).toEqual(stored.slice(3));
      expect(await store.readStored({ after, limit: 1 })).toHaveLength(1);
      expect(await store.readStored({ after: stored[0]?.position, limit: 0 })).toEqual([]);
    });
  });

  describe("structureProblems", () => {
    it("are none of a store that only this program has written", async () => {
      const { store, prefix } = fixture();
      await store.append(newStream(), "none", sampleEvents(3));
      await store.append(newCategory("clicks"), "none", sampleEvents(3));
      const problems = await store.structureProblems();
      expect(problems.filter(({ stream = prefix }) => stream.startsWith(prefix))).toEqual([]);
    });
  });

  describe("newestOf", () => {
    it("says how far a category goes, whichever handle appended", async () => {
      const { store, openAnother } = fixture();
      if (!store.newestOf) return;
      const category = newCategory();
      expect(await store.newestOf(category)).toBe("");
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
      expect(head !== undefined && head >= position).toBe(true);
    });
  });
}
