// The read store contract on MongoDB or a compatible server, and its failures: unavailable, hanging and back again.
import fc from "fast-check";
import { type Document as BsonDocument, MongoServerError } from "mongodb";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { StoreFailed, StoreUnavailable } from "../../src/stores/connections/errors.ts";
import { MongodbConnection } from "../../src/stores/connections/mongodb.ts";
import {
  CheckpointMoved,
  type CollectionWrite,
  type Document,
  type ReadStore,
  type WriteBatch,
} from "../../src/stores/read-store/port.ts";
import { openMongodbReadStore } from "../../src/stores/read-store/read-store.mongodb.ts";
import { effort } from "../support/runtime/effort.ts";
import { settlesWithoutWaiting } from "../support/runtime/settles-without-waiting.ts";
import { mongodb, mongodbIsOurs, mongodbOfSuite } from "../support/servers/mongodb-server.ts";
import { tapMongodb } from "../support/servers/mongodb-tap.ts";
import { onServer } from "../support/servers/test-servers.ts";
import { expectPrintedTable } from "./click-table-script.ts";
import { readStoreContract } from "./read-store.ts";

onServer(mongodb, () => {
  const server = mongodbOfSuite();

  const open = async () => {
    const url = server.newDatabase();
    const readStore = await openMongodbReadStore(new MongodbConnection(url));
    return {
      readStore,
      reopen: () => openMongodbReadStore(new MongodbConnection(url)),
      cleanUp: () => readStore.close(),
    };
  };
  readStoreContract("MongoDB", open);

  describe("the read store on MongoDB", () => {
    it("has tables of clicks that a script reads without us", async () => {
      const url = server.newDatabase();
      const readStore = await openMongodbReadStore(new MongodbConnection(url));
      await expectPrintedTable(readStore, url);
      await readStore.close();
    });

    it("is unavailable while a shard has no primary, which mongos tells by a code of its own", async () => {
      const connection = new MongodbConnection(server.newDatabase());
      const message = 'Could not find host matching read preference { mode: "primary" } for set shard-1';
      const reading = connection.run(() => Promise.reject(new MongoServerError({ message, code: 133 })));
      await expect(reading).rejects.toThrow(StoreUnavailable);
      await connection.close();
    });

    it.each([
      ["before its first document", /^update docs_counts$/, "5+"],
      ["before its receipt", /^update docs__receipts$/, "9+"],
      ["before it removes what it has merged", /^delete docs_counts$/, "9+"],
      ["before its checkpoint", /^update docs__checkpoints$/, "9+"],
    ])("keeps what another holder has corrected while a commit stalled %s", async (_, command, corrected) => {
      const url = server.newDatabase();
      const tap = await tapMongodb(url);
      const open = (to: string) => openMongodbReadStore(new MongodbConnection(to));
      const [stalled, other] = [await open(tap.url), await open(url)];
      const at = (n: number) => ({ position: String(n), eventId: String(n) });
      const count = (_id: string, _position: string, n: number) => ({ _id, _position, n });
      const commit = (
        store: ReadStore,
        from: number | undefined,
        to: number,
        ...changed: CollectionWrite[]
      ) =>
        store.write({
          documents: changed,
          checkpoint: { name: "p", from: from === undefined ? undefined : at(from), to: at(to) },
        });
      const counts = (...documents: Document[]) => ({ collection: "counts", documents });
      await commit(other, undefined, 5, counts(count("a", "5", 5), count("b", "5", 5), count("c", "5", 5)));
      const held = tap.hold(command);
      const late = commit(stalled, 5, 9, {
        ...counts(count("a", "9", 9), count("b", "9", 9)),
        removed: [{ id: "c", position: "5" }],
      }).catch((error: unknown) => error);
      await held.isHeld;
      // A correction: the checkpoint stays where it is.
      await commit(other, 5, 5, counts(count("a", corrected, 1), count("c", "5+", 1)));
      held.release();
      expect(await late).toBeInstanceOf(CheckpointMoved);
      expect(await other.checkpoint("p")).toEqual(at(5));
      expect(await other.getMany("counts", ["a", "c"])).toEqual([
        count("a", corrected, 1),
        count("c", "5+", 1),
      ]);
      // What it has left is no sign of documents that were put back.
      await commit(other, 5, 6, counts(count("b", "6", 6)));
      expect(await other.inconsistency("p")).toBeUndefined();
      for (const opened of [stalled, other]) await opened.close();
      await tap.close();
    });

    it.each([undefined, { position: "9", eventId: "9" }])(
      "refuses a commit whose checkpoint becomes another one while its documents are written: %j",
      async (stored) => {
        const url = server.newDatabase();
        const connection = new MongodbConnection(url);
        const [readStore, other] = [
          await openMongodbReadStore(connection),
          await openMongodbReadStore(new MongodbConnection(url)),
        ];
        const from = { position: "1", eventId: "1" };
        await readStore.write({ documents: [], checkpoint: { name: "p", from: undefined, to: from } });
        const run = connection.run.bind(connection);
        let calls = 0;
        vi.spyOn(connection, "run").mockImplementation(async (operation) => {
          calls += 1;
          // The first call reads the checkpoint, the second one writes the documents.
          if (calls === 2 && stored === undefined) await run((db) => db.dropDatabase());
          else if (calls === 2 && stored)
            await other.write({ documents: [], checkpoint: { name: "p", from, to: stored } });
          return await run(operation);
        });
        const checkpoint = { name: "p", from, to: { position: "2", eventId: "2" } };
        const committing = readStore.write({ ...written("a"), checkpoint });
        await expect(committing).rejects.toMatchObject({ code: "checkpoint_moved", stored });
        expect(await other.checkpoint("p")).toEqual(stored);
        await readStore.close();
        await other.close();
      },
    );

    it("fails by a typed error where the server or its driver refuses a document", async () => {
      const readStore = await openMongodbReadStore(new MongodbConnection(server.newDatabase()));
      const documents = [{ _id: "large", _position: "1", text: "x".repeat(17 * 1024 * 1024) }];
      const writing = readStore.write({ documents: [{ collection: "notes", documents }] });
      await expect(writing).rejects.toThrow(StoreFailed);
      await readStore.close();
    });
  });

  describe("documents on MongoDB that were put back from a copy", () => {
    const COLLECTIONS = ["links", "webhooks"] as const;
    /** In place of a document: one takes the others of its collection in, as chunks of a table are merged, and they are removed. */
    const MERGE = 6;
    const STORED = [...COLLECTIONS.map((name) => `docs_${name}`), "docs__checkpoints", "docs__receipts"];
    const at = (n: number) => ({ position: String(n).padStart(6, "0"), eventId: String(n) });

    const opened = async () => {
      const connection = new MongodbConnection(server.newDatabase());
      const readStore = await openMongodbReadStore(connection);
      const copies = new Map<string, BsonDocument[]>();
      /** Where each document is, by its commit. */
      let written: { collection: string; _id: string; n: number }[] = [];
      let committed = 0;
      const commit = async (ids: readonly (readonly [collection: string, id: number])[]) => {
        const to = committed + 1;
        const documents = COLLECTIONS.map((collection) => {
          const numbers = ids.filter(([name]) => name === collection).map(([, id]) => id);
          const others = written.filter((before) => before.collection === collection);
          const [first, ...merged] = numbers.includes(MERGE)
            ? [...new Set(others.map(({ _id }) => _id))]
            : [];
          const named = numbers.filter((id) => id !== MERGE).map((id) => `d${id}`);
          const of = [...new Set([...(first === undefined ? [] : [first]), ...named])];
          const removed = merged
            .filter((_id) => !of.includes(_id))
            .map((id) => ({
              id,
              position: at(Math.max(...others.flatMap(({ _id, n }) => (_id === id ? n : [])))).position,
            }));
          written = written.filter(
            (before) => before.collection !== collection || removed.every(({ id }) => id !== before._id),
          );
          for (const _id of of) written.push({ collection, _id, n: to });
          const changed = of.map((_id) => ({ _id, _position: at(to).position }));
          return { collection, documents: changed, ...(removed.length > 0 && { removed }) };
        });
        const from = committed ? at(committed) : undefined;
        await readStore.write({ documents, checkpoint: { name: "p", from, to: at(to) } });
        committed = to;
      };
      return {
        readStore,
        commit,
        /** The process ends after so many calls. */
        async crash(calls: number, ids: Parameters<typeof commit>[0]) {
          const run = connection.run.bind(connection);
          let left = calls;
          const spy = vi.spyOn(connection, "run").mockImplementation(async (operation) => {
            if (left-- <= 0) throw new Error("killed");
            return await run(operation);
          });
          await commit(ids).catch(() => undefined);
          spy.mockRestore();
        },
        async copy(name: string) {
          copies.set(name, await connection.run((db) => db.collection(name).find().toArray()));
        },
        async putBack() {
          for (const [name, documents] of copies)
            await connection.run(async (db) => {
              await db.collection(name).deleteMany({});
              if (documents.length > 0) await db.collection(name).insertMany(documents);
            });
        },
        /** Whether a document lacks what was folded up to the checkpoint. */
        async isWrong(): Promise<boolean> {
          const upTo = Number((await readStore.checkpoint("p"))?.eventId ?? 0);
          const found = new Map<string, string>();
          for (const collection of COLLECTIONS)
            for (const { _id, _position } of await readStore.find(collection, { limit: 1_000 }))
              found.set(`${collection}/${_id}`, _position);
          return written.some(
            ({ collection, _id, n }) =>
              n <= upTo && (found.get(`${collection}/${_id}`) ?? "") < at(n).position,
          );
        },
      };
    };

    type Written = [collection: (typeof COLLECTIONS)[number], id: number];
    const ids: fc.Arbitrary<Written[]> = fc.array(fc.tuple(fc.constantFrom(...COLLECTIONS), fc.nat(MERGE)), {
      maxLength: 4,
    });

    it("are noticed whenever they lack something, in whichever order collections were copied", async () => {
      const copying = fc
        .shuffledSubarray(STORED, { minLength: STORED.length })
        .chain((order) =>
          fc.tuple(
            fc.constant(order),
            fc.array(fc.array(ids, { maxLength: 2 }), { minLength: 4, maxLength: 4 }),
          ),
        );
      await fc.assert(
        fc.asyncProperty(fc.array(ids, { maxLength: 3 }), copying, async (before, [order, between]) => {
          const store = await opened();
          for (const changed of before) await store.commit(changed);
          for (const [n, name] of order.entries()) {
            await store.copy(name);
            for (const changed of between[n] ?? []) await store.commit(changed);
          }
          expect(await store.readStore.inconsistency("p")).toBeUndefined();
          await store.putBack();
          if (await store.isWrong()) expect(await store.readStore.inconsistency("p")).toBeDefined();
          await store.readStore.close();
        }),
        { numRuns: effort(25, 200) },
      );
    });

    it("are noticed where what they lack was written long before the checkpoint was copied", async () => {
      const store = await opened();
      await store.commit([["links", 1]]);
      await store.copy("docs_webhooks");
      await store.commit([["webhooks", 1]]);
      for (let n = 0; n < 110; n++) await store.commit([["links", n]]);
      for (const name of STORED) if (name !== "docs_webhooks") await store.copy(name);
      await store.putBack();
      expect(await store.isWrong()).toBe(true);
      expect(await store.readStore.inconsistency("p")).toContain("d1 of webhooks is older");
      await store.readStore.close();
    });

    /** Processes end during the same commit: one when it has removed a document, the next one before it does. */
    const REMOVED_BY_A_CRASHED_COMMIT: [Written[], [number, Written[]][]] = [
      [
        ["links", 0],
        ["links", 1],
      ],
      [
        [2, [["webhooks", 3]]],
        [
          6,
          [
            ["links", MERGE],
            ["webhooks", 3],
          ],
        ],
        [4, [["links", 0]]],
      ],
    ];

    it("are taken for what they are where a process ended during a commit, wherever that was", async () => {
      const crashing = fc.array(fc.tuple(fc.nat(6), ids), { minLength: 1, maxLength: 4 });
      await fc.assert(
        fc.asyncProperty(ids, crashing, async (first, crashes) => {
          const store = await opened();
          await store.commit(first);
          for (const [calls, changed] of crashes) {
            await store.crash(calls, changed);
            expect(await store.readStore.inconsistency("p")).toBeUndefined();
          }
          await store.readStore.close();
        }),
        { numRuns: effort(15, 100), examples: [REMOVED_BY_A_CRASHED_COMMIT] },
      );
    });
  });

  describe.skipIf(!mongodbIsOurs)("the read store while MongoDB is unavailable", () => {
    let readStore: ReadStore;
    beforeAll(async () => {
      const url = `${server.newDatabase()}serverSelectionTimeoutMS=500&heartbeatFrequencyMS=500&socketTimeoutMS=1000`;
      readStore = await openMongodbReadStore(new MongodbConnection(url));
      await readStore.write(written("a"));
    });
    afterAll(() => readStore.close());

    it("throws StoreUnavailable, from the second call on without a delay, and recovers by itself", async () => {
      await server.process?.kill();
      await expect(readStore.get("notes", "a")).rejects.toThrow(StoreUnavailable);
      const second = readStore.get("notes", "a");
      expect(await settlesWithoutWaiting(second)).toBe(true);
      await expect(second).rejects.toThrow(StoreUnavailable);
      await server.process?.start();
      await expect.poll(() => readStore.get("notes", "a")).toBeDefined();
    });

    it("opens while MongoDB is unavailable, and works as soon as it is available", async () => {
      await server.process?.kill();
      const url = `${server.newDatabase()}serverSelectionTimeoutMS=300`;
      const early = await openMongodbReadStore(new MongodbConnection(url));
      const reads = Array.from({ length: 3 }, () => early.get("notes", "a"));
      for (const answer of reads) await expect(answer).rejects.toThrow(StoreUnavailable);
      await server.process?.start();
      const count = () => early.count("notes", {}).catch(() => "unavailable");
      await expect.poll(count).toBe(0);
      await early.close();
    });

    it("throws StoreUnavailable when the server hangs, for writes too, and recovers", async () => {
      await server.process?.pause();
      await expect(readStore.write(written("b"))).rejects.toThrow(StoreUnavailable);
      server.process?.resume();
      await expect.poll(() => readStore.get("notes", "a")).toBeDefined();
    });
  });
});

function written(_id: string): WriteBatch {
  return { documents: [{ collection: "notes", documents: [{ _id, _position: "1" }] }] };
}
