// The contract of the read store's commits, for every adapter: which documents are replaced, and when a checkpoint moves.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StoreUnavailable } from "../../src/stores/connections/errors.ts";
import {
  type Checkpoint,
  CheckpointMoved,
  type Document,
  type ReadStore,
} from "../../src/stores/read-store/port.ts";
import type { ReadStoreFixture } from "./read-store.ts";

type Count = Document & { n: number };

const COUNTS = { name: "counts", indexes: [["n"]] } as const;

export function readStoreCommits(name: string, open: () => Promise<ReadStoreFixture>) {
  describe(`commits of the read store: ${name}`, () => {
    let fixture: ReadStoreFixture;
    let store: ReadStore;
    let other: ReadStore;

    beforeEach(async () => {
      fixture = await open();
      store = fixture.readStore;
      other = await fixture.reopen();
      await store.ensure([COUNTS]);
    });
    afterEach(async () => {
      await other.close();
      await fixture.cleanUp();
    });

    it("replaces a document at a higher position alone, and writes the others of the commit", async () => {
      await put(count("a", 5));
      for (const n of [4, 5]) await put(count("a", n, 99), count(`b${n}`, n));
      expect(await counts()).toEqual({ a: 5, b4: 4, b5: 5 });
      await put(count("a", 6));
      expect(await counts()).toEqual({ a: 6, b4: 4, b5: 5 });
    });

    it("replaces hundreds of documents of several collections in one commit", async () => {
      const written = (n: number) => Array.from({ length: 300 }, (_, at) => count(`d${at}`, n));
      for (const n of [1, 2])
        await store.write({
          documents: [
            { collection: "counts", documents: written(n) },
            { collection: "empty", documents: [] },
            { collection: "others", documents: written(n) },
          ],
        });
      expect(await other.count("counts", { where: { n: 2 } })).toBe(300);
      expect(await other.count("others", { where: { n: 2 } })).toBe(300);
    });

    it("replaces what has still the position that it is said to have, or says that another holder has written it", async () => {
      await put(count("a", 1), count("b", 2));
      const replace = (position: string, document: Document) => {
        const replaced = new Map([[document._id, position]]);
        return store.write({ documents: [{ collection: "counts", documents: [document], replaced }] });
      };
      await expect(replace("002", count("a", 50))).rejects.toThrow(CheckpointMoved);
      await expect(replace("", count("a", 50))).rejects.toThrow(CheckpointMoved);
      await expect(replace("001", count("gone", 50))).rejects.toThrow(CheckpointMoved);
      expect(await counts()).toEqual({ a: 1, b: 2 });
      await replace("001", count("a", 3));
      await replace("003", count("a", 0));
      await replace("", count("new", 7));
      expect(await counts()).toEqual({ a: 0, b: 2, new: 7 });
    });

    it("removes documents that have still the position, after it has written others", async () => {
      await put(count("a", 1), count("b", 2), count("c", 3));
      await store.write({
        documents: [
          {
            ...{ collection: "counts", documents: [count("d", 4)] },
            removed: [
              { id: "a", position: count("a", 1)._position },
              { id: "b", position: count("b", 9)._position },
              { id: "z", position: count("z", 1)._position },
            ],
          },
        ],
      });
      expect(await counts()).toEqual({ b: 2, c: 3, d: 4 });
    });

    it("keeps collections and indexes that another process has made too", async () => {
      await put(count("a", 1));
      await Promise.all([other.ensure([COUNTS]), store.ensure([COUNTS])]);
      expect(await other.find("counts", { where: { n: 1 }, limit: 2 })).toEqual([count("a", 1)]);
    });

    it("moves a checkpoint with its documents from where it is, and keeps all of it", async () => {
      expect(await store.checkpoint("p")).toBeUndefined();
      await commit(store, undefined, at(2), count("a", 2));
      const waiting: Checkpoint = {
        ...at(2),
        setAside: 3,
        waitsFor: { position: "3", stream: "s", revision: 1, type: "T" },
      };
      await commit(store, at(2), waiting);
      expect(await other.checkpoint("p")).toEqual(waiting);
      await commit(other, waiting, at(4), count("a", 4));
      await store.write({ documents: [], checkpoint: { name: "q", from: undefined, to: at(1) } });
      expect(await store.checkpoints()).toEqual({ p: at(4), q: at(1) });
      expect(await counts()).toEqual({ a: 4 });
    });

    it.each([
      ["ahead: another holder has moved it", at(7)],
      ["behind: the documents were put back", at(3)],
      ["of another log: another event is there", { ...at(5), eventId: "another" }],
      ["gone: the documents were dropped", undefined],
    ])("refuses a commit whose checkpoint is %s", async (_, stored) => {
      if (stored) await commit(other, undefined, stored);
      const refused = await commit(store, at(5), at(9), count("a", 9)).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(CheckpointMoved);
      expect(refused).toMatchObject({ code: "checkpoint_moved", stored });
      expect(await store.checkpoint("p")).toEqual(stored);
      expect(await counts()).toEqual({});
    });

    it("refuses a first commit where there is a checkpoint", async () => {
      await commit(other, undefined, at(3), count("a", 3));
      await expect(commit(store, undefined, at(9), count("a", 9))).rejects.toThrow(CheckpointMoved);
      expect(await counts()).toEqual({ a: 3 });
    });

    it("lets one of several holders go on from the same checkpoint", async () => {
      await commit(store, undefined, at(10));
      const holders = [store, other, store, other].map((holder, n) => ({
        holder,
        from: at(n + 20),
        to: at(n + 30),
      }));
      const first = await Promise.allSettled(holders.map(({ holder, from }) => commit(holder, at(10), from)));
      const goOn = holders.filter((_, n) => first[n]?.status === "fulfilled");
      expect(goOn).toHaveLength(1);
      const second = await Promise.allSettled(goOn.map(({ holder, from, to }) => commit(holder, from, to)));
      expect(second.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    });

    it("takes commits of several builds at a time, also where all their documents are stored already", async () => {
      const builds = ["p0", "p1", "p2", "p3"];
      const commitTo = async (name: string, n: number) => {
        const documents = Array.from({ length: 150 }, (_, i) => count(`d${i}`, n));
        const checkpoint = { name, from: n > 1 ? at(n - 1) : undefined, to: at(n) };
        await store.write({ documents: [{ collection: name, documents }], checkpoint });
      };
      for (const n of [1, 2, 3]) await Promise.all(builds.map((name) => commitTo(name, n)));
      for (const name of builds) expect(await store.count(name, { where: { n: 3 } })).toBe(150);
    });

    it("repeats a commit of which only the documents were stored", async () => {
      await put(count("a", 5));
      await commit(store, undefined, at(5), count("a", 5), count("b", 4));
      expect(await counts()).toEqual({ a: 5, b: 4 });
      expect(await store.checkpoint("p")).toEqual(at(5));
    });

    it("keeps the newest of documents that several processes write at the same time", async () => {
      const writes = Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? store : other).write({
          documents: [{ collection: "counts", documents: [count("a", n), count(`b${n % 3}`, n)] }],
        }),
      );
      await Promise.all(writes);
      expect(await counts()).toEqual({ a: 19, b0: 18, b1: 19, b2: 17 });
    });

    it("drops one collection, which can be made again, and leaves the others; a missing one is no error", async () => {
      await put(count("a", 2));
      await store.write({ documents: [{ collection: "others", documents: [count("a", 2)] }] });
      await other.drop("counts");
      await other.drop("never-made");
      expect(await counts()).toEqual({});
      expect(await store.get("others", "a")).toBeDefined();
      await put(count("a", 1));
      expect(await counts()).toEqual({ a: 1 });
    });

    it("drops a checkpoint, so that its consumer begins anew", async () => {
      await commit(store, undefined, at(9));
      await other.dropCheckpoint("p");
      await other.dropCheckpoint("never-made");
      expect(await store.checkpoint("p")).toBeUndefined();
      await commit(store, undefined, at(1));
      expect(await other.checkpoint("p")).toEqual(at(1));
    });

    it("is unavailable once closed, whatever is called", async () => {
      const closed = await fixture.reopen();
      await closed.close();
      const calls = [
        () => closed.ensure([{ name: "new", indexes: [["n"]] }]),
        () => closed.get("counts", "a"),
        () => closed.getMany("counts", ["a"]),
        () => closed.find("counts", { limit: 1 }),
        () => closed.count("counts", {}),
        () => closed.write({ documents: [{ collection: "counts", documents: [count("a", 1)] }] }),
        () => commit(closed, undefined, at(1)),
        () => closed.checkpoint("p"),
        () => closed.checkpoints(),
        () => closed.drop("counts"),
        () => closed.dropCheckpoint("p"),
      ];
      for (const call of calls) await expect(call()).rejects.toThrow(StoreUnavailable);
      await closed.close();
    });

    async function put(...documents: Document[]): Promise<void> {
      await store.write({ documents: [{ collection: "counts", documents }] });
    }

    async function commit(
      holder: ReadStore,
      from: Checkpoint | undefined,
      to: Checkpoint,
      ...documents: Document[]
    ): Promise<void> {
      const checkpoint = { name: "p", from, to };
      await holder.write({ documents: [{ collection: "counts", documents }], checkpoint });
    }

    async function counts(): Promise<Record<string, number>> {
      const all = await other.find<Count>("counts", { limit: 100 });
      return Object.fromEntries(all.map(({ _id, n }) => [_id, n]));
    }
  });
}

function count(_id: string, position: number, n = position): Count {
  return { _id, _position: String(position).padStart(3, "0"), n };
}

function at(position: number): Checkpoint {
  return { position: String(position), eventId: `event ${position}` };
}
