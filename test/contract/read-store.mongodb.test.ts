// The read store contract on MongoDB or a compatible server, and its failures: unavailable, hanging and back again.
import { MongoServerError } from "mongodb";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { StoreFailed, StoreUnavailable } from "../../src/stores/connections/errors.ts";
import { MongodbConnection } from "../../src/stores/connections/mongodb.ts";
import { openMongodbReadStore } from "../../src/stores/read-store/mongodb/read-store.ts";
import type { ReadStore, WriteBatch } from "../../src/stores/read-store/port.ts";
import { settlesWithoutWaiting } from "../support/runtime/settles-without-waiting.ts";
import { mongodb, mongodbIsOurs, startMongodb, type TestMongodb } from "../support/servers/mongodb-server.ts";
import { onServer } from "../support/servers/test-servers.ts";
import { readStoreContract } from "./read-store.ts";

onServer(mongodb, () => {
  let server: TestMongodb;
  beforeAll(async () => {
    server = await startMongodb();
    return () => server.stop();
  });

  const open = async () => {
    const url = server.newDatabase();
    const readStore = await openMongodbReadStore(new MongodbConnection(url));
    return {
      readStore,
      reopen: () => openMongodbReadStore(new MongodbConnection(url)),
      cleanUp: () => readStore.close(),
    };
  };
  readStoreContract("MongoDB", open, { isAtomic: !mongodbIsOurs });

  describe("the read store on MongoDB", () => {
    it("is unavailable while a shard has no primary, which mongos tells by a code of its own", async () => {
      const connection = new MongodbConnection(server.newDatabase());
      const message = 'Could not find host matching read preference { mode: "primary" } for set shard-1';
      const reading = connection.run(() => Promise.reject(new MongoServerError({ message, code: 133 })));
      await expect(reading).rejects.toThrow(StoreUnavailable);
      await connection.close();
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
