// The event store contract for reads: streams in both directions, and the whole store by stream categories.
import { describe, expect, it, onTestFinished } from "vitest";
import { sampleEvent, sampleEvents } from "../support/event-store/sample-events.ts";
import type { Subject } from "./event-store-fixture.ts";

export function readPromises({ fixture, newStream }: Subject): void {
  describe("read", () => {
    it("reads a missing stream as empty", async () => {
      expect(await fixture().store.read(newStream())).toEqual([]);
      expect(await fixture().store.read(newStream(), { backwards: true, limit: 1 })).toEqual([]);
    });

    it("says how far a category goes, if it can do so without a call", async () => {
      const { store, prefix, openAnother } = fixture();
      if (!store.newestOf) return;
      const stream = newStream();
      const { position } = await store.append(stream, "none", sampleEvents(3));
      expect(await store.newestOf(prefix)).toBe(position);
      const another = await openAnother();
      onTestFinished(() => another.close());
      const later = await another.append(stream, 2, [sampleEvent()]);
      expect(await store.newestOf(prefix)).toBe(later.position);
      await store.append(`other${prefix}1`, "any", [sampleEvent()]);
      expect(await store.newestOf(prefix)).toBe(later.position);
      expect(await store.newestOf(`nothing${prefix}`)).toBe("");
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

    it("reads from the middle of large batches, between single events, in both directions", async () => {
      const { store } = fixture();
      const stream = newStream();
      const batches = [1, 40, 2, 60].map((size) => sampleEvents(size));
      let expected: "none" | number = "none";
      for (const batch of batches) expected = (await store.append(stream, expected, batch)).revision;
      const ids = batches.flat().map(({ id }) => id);
      const idsOf = async (options: Parameters<typeof store.read>[1]) =>
        (await store.read(stream, options)).map(({ id }) => id);
      expect(await idsOf({})).toEqual(ids);
      expect(await idsOf({ from: 20, limit: 30 })).toEqual(ids.slice(20, 50));
      expect(await idsOf({ from: 42 })).toEqual(ids.slice(42));
      expect(await idsOf({ backwards: true, limit: 70 })).toEqual(ids.toReversed().slice(0, 70));
      expect(await idsOf({ backwards: true, from: 50, limit: 20 })).toEqual(ids.slice(31, 51).reverse());
    });
  });

  describe("readAll", () => {
    it("reads all streams of its categories in position order, after a position without it", async () => {
      const { store } = fixture();
      const [a, b, c] = [newStream("left-"), newStream("right-"), newStream("other-")];
      const categories = [a, b];
      for (const stream of [a, c, b, a, c, b]) await store.append(stream, "any", [sampleEvent()]);
      const all = await store.readAll({ categories, limit: 100 });
      expect(all.map(({ stream }) => stream)).toEqual([a, b, a, b]);
      expect(all.map(({ position }) => position)).toEqual(all.map(({ position }) => position).toSorted());
      const remaining = await store.readAll({ categories, after: all[1]?.position, limit: 100 });
      expect(remaining).toEqual(all.slice(2));
      expect(await store.readAll({ categories, after: all[0]?.position, limit: 2 })).toEqual(all.slice(1, 3));
    });

    it("reads from the position of an event on, with it, also within a batch", async () => {
      const { store } = fixture();
      const stream = newStream("from-");
      await store.append(stream, "none", sampleEvents(3));
      await store.append(stream, 2, sampleEvents(40));
      const all = await store.readAll({ categories: [stream], limit: 100 });
      for (const n of [0, 1, 3, 20, 42])
        expect(await store.readAll({ categories: [stream], from: all[n]?.position, limit: 100 })).toEqual(
          all.slice(n),
        );
      expect(await store.readAll({ categories: [stream], from: all[5]?.position, limit: 2 })).toEqual(
        all.slice(5, 7),
      );
    });

    it("leaves out nothing that mentions the wanted text, page by page", async () => {
      const { store } = fixture();
      const [stream, other] = [newStream("mention-"), newStream("mention-")];
      const wanted = 'a "quoted" é/text';
      const texts = Array.from({ length: 12 }, (_, n) => (n % 5 === 1 ? [wanted, "b", wanted] : ["b", "c"]));
      let expected: "none" | number = "none";
      for (const [n, part] of texts.entries()) {
        const events = part.flatMap((text) => Array.from({ length: 9 }, () => sampleEvent({ text })));
        expected = (await store.append(stream, expected, events)).revision;
        if (n % 4 === 0) await store.append(other, "any", [sampleEvent({ text: wanted })]);
      }
      const categories = [stream, other];
      const isWanted = ({ data }: { data: unknown }) => (data as { text: string }).text === wanted;
      const all = (await store.readAll({ categories, limit: 1_000 })).filter(isWanted);
      for (const limit of [1, 4, 1_000]) {
        const found: typeof all = [];
        for (let after: string | undefined; ; ) {
          const page = await store.readAll({ categories, after, limit, mentions: wanted });
          if (page.length === 0) break;
          expect(page.length).toBeLessThanOrEqual(limit);
          found.push(...page.filter(isWanted));
          after = page.at(-1)?.position;
        }
        expect(found).toEqual(all);
      }
    });

    it("leaves out no change when only changes are wanted, page by page", async () => {
      const { store } = fixture();
      const streams = [newStream("changed-"), newStream("changed-"), newStream("changed-")];
      for (const [n, stream] of streams.entries()) await store.append(stream, "none", sampleEvents(1 + n));
      for (const stream of streams) await store.append(stream, "any", sampleEvents(2));
      const isChange = ({ revision }: { revision: number }) => revision > 0;
      const all = (await store.readAll({ categories: streams, limit: 100 })).filter(isChange);
      const found: typeof all = [];
      for (let after: string | undefined; ; after = found.at(-1)?.position) {
        const page = await store.readAll({ categories: streams, after, limit: 4, changesOnly: true });
        if (page.length === 0) break;
        found.push(...page);
      }
      expect(found.filter(isChange)).toEqual(all);
    });

    it("continues in the middle of a large batch, and keeps the order of interleaved streams", async () => {
      const { store } = fixture();
      const [a, b] = [newStream("left-"), newStream("right-")];
      const expected: Record<string, "none" | number> = { [a]: "none", [b]: "none" };
      const appended: string[] = [];
      for (const [stream, size] of [
        [a, 30],
        [b, 3],
        [a, 1],
        [b, 25],
        [a, 17],
      ] as const) {
        const events = sampleEvents(size);
        expected[stream] = (await store.append(stream, expected[stream] ?? "none", events)).revision;
        appended.push(...events.map(({ id }) => id));
      }
      const all = await store.readAll({ categories: [a, b], limit: 1000 });
      expect(all.map(({ id }) => id)).toEqual(appended);
      for (const limit of [1, 7, 31]) {
        const paged: string[] = [];
        for (let after: string | undefined; ; ) {
          const page = await store.readAll({ categories: [a, b], after, limit });
          if (page.length === 0) break;
          paged.push(...page.map(({ id }) => id));
          after = page.at(-1)?.position;
        }
        expect(paged).toEqual(appended);
      }
      const ofOne = await store.readAll({ categories: [b], after: all[31]?.position, limit: 3 });
      expect(ofOne).toEqual(all.filter(({ stream }) => stream === b).slice(2, 5));
    });

    it("does not match a longer category by a shorter one", async () => {
      const { store, prefix } = fixture();
      const stream = newStream("link-");
      await store.append(stream, "none", [sampleEvent()]);
      await store.append(newStream("linkx-"), "none", [sampleEvent()]);
      const read = await store.readAll({ categories: [`${prefix}link-`], limit: 100 });
      expect(read.map((event) => event.stream)).toEqual([stream]);
    });

    it("returns an event once when two categories match its stream", async () => {
      const { store, prefix } = fixture();
      await store.append(newStream("twice-"), "none", sampleEvents(2));
      const read = await store.readAll({ categories: [`${prefix}twice-`, `${prefix}tw`], limit: 100 });
      expect(read).toHaveLength(2);
    });

    it("reads categories whose names start anywhere in the alphabet", async () => {
      const { store, prefix } = fixture();
      const stream = `${prefix.replace("-", "")}x-${crypto.randomUUID()}`;
      await store.append(stream, "none", sampleEvents(2));
      expect(await store.readAll({ categories: [stream.slice(0, -36)], limit: 10 })).toHaveLength(2);
    });

    it("reads nothing when no stream has the prefix", async () => {
      const { store, prefix } = fixture();
      expect(await store.readAll({ categories: [`${prefix}nobody-`], limit: 10 })).toEqual([]);
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
