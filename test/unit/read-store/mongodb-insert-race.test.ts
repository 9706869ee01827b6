// Documents in MongoDB when another writer inserts the same one between the search and the insert of an upsert.
import { MongoBulkWriteError } from "mongodb";
import { expect, it } from "vitest";
import type { MongodbConnection } from "../../../src/connections/mongodb.ts";
import { openMongodbReadStore } from "../../../src/read-store/mongodb/read-store.ts";

type Stored = { _id: string; _position: string };
type Replace = { replaceOne: { filter: { _id: string; _position: { $lt: string } }; replacement: Stored } };

/** Upserts as MongoDB does, but each rival is inserted when the search for its `_id` has found nothing. */
function doubleWithInsertRaces(rivals: readonly Stored[]) {
  const stored = new Map<string, Stored>();
  const waiting = new Map(rivals.map((rival) => [rival._id, rival]));
  const isDuplicate = ({ replaceOne: { filter, replacement } }: Replace): boolean => {
    const found = stored.get(filter._id);
    const rival = found ? undefined : waiting.get(filter._id);
    if (rival) stored.set(rival._id, rival);
    if (rival || (found && found._position >= filter._position.$lt)) return true;
    stored.set(replacement._id, replacement);
    return false;
  };
  const collection = {
    async bulkWrite(operations: readonly Replace[]) {
      const writeErrors = operations.filter(isDuplicate).map(() => ({ code: 11_000 }));
      if (writeErrors.length === 0) return;
      const counts = { matchedCount: 0, upsertedCount: operations.length - writeErrors.length };
      const result = { ...counts, getWriteConcernError: () => undefined };
      throw new MongoBulkWriteError(
        { message: "E11000", code: 11_000, writeErrors } as never,
        result as never,
      );
    },
    find: () => ({ project: () => ({ toArray: async () => [...stored.values()] }) }),
  };
  const run = (work: (db: object) => Promise<unknown>) => work({ collection: () => collection });
  return { stored, connection: { run } as unknown as MongodbConnection };
}

it("keeps the newer document, whichever of two writers inserts its own first", async () => {
  const rivals = [
    { _id: "older", _position: "05" },
    { _id: "newer", _position: "12" },
  ];
  const { stored, connection } = doubleWithInsertRaces(rivals);
  const readStore = await openMongodbReadStore(connection);
  const documents = ["older", "newer", "alone"].map((_id) => ({ _id, _position: "09" }));
  await readStore.replace("links", documents);
  expect([...stored.values()].map(({ _id, _position }) => `${_position} ${_id}`).sort()).toEqual([
    "09 alone",
    "09 older",
    "12 newer",
  ]);
});
