// The secret store on MongoDB: one document for each record, made unique by `_id`.
import type { Collection } from "mongodb";
import { isDuplicateKey, type MongodbConnection } from "../connections/mongodb.ts";
import { endOf, type SecretStore, type StoredSecret } from "./port.ts";

type SecretDocument = { _id: string; value: string; expiresAt: Date | null };

/** Creates the index. Idempotent, also concurrently. @throws StoreUnavailable */
export async function prepareSecrets(connection: MongodbConnection): Promise<void> {
  await connection.run((db) => db.collection<SecretDocument>("secrets").createIndex({ expiresAt: 1 }));
}

/** Works before prepareSecrets too, without an index. */
export function mongodbSecrets(connection: MongodbConnection): SecretStore {
  const run = <T>(work: (secrets: Collection<SecretDocument>) => Promise<T>): Promise<T> =>
    connection.run((db) => work(db.collection<SecretDocument>("secrets")));
  /** False when there is one of that name. */
  const insert = (secret: StoredSecret) =>
    run(async (secrets) => {
      try {
        await secrets.insertOne(documentOf(secret));
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    });
  return {
    async get(name) {
      const document = await run((secrets) => secrets.findOne({ _id: name }));
      return document ? secretOf(document) : undefined;
    },
    async page(prefix, after, limit) {
      const next = { _id: { $gt: after, $gte: prefix, $lt: endOf(prefix) } };
      const documents = await run((secrets) => secrets.find(next).sort({ _id: 1 }).limit(limit).toArray());
      return documents.map(secretOf);
    },
    async swap(before, after) {
      if (!before) return await insert(after);
      const same = { _id: after.name, value: before.value };
      return (await run((secrets) => secrets.replaceOne(same, documentOf(after)))).matchedCount === 1;
    },
    async remove(name, value) {
      const same = { _id: name, ...(value !== undefined && { value }) };
      return (await run((secrets) => secrets.deleteOne(same))).deletedCount === 1;
    },
    async sweep(now) {
      const expired = { expiresAt: { $lte: now, $ne: null } };
      return (await run((secrets) => secrets.deleteMany(expired))).deletedCount;
    },
    close: () => connection.close(),
  };
}

function documentOf({ name, value, expiresAt }: StoredSecret): SecretDocument {
  return { _id: name, value, expiresAt: expiresAt === undefined ? null : new Date(expiresAt) };
}

function secretOf({ _id, value, expiresAt }: SecretDocument): StoredSecret {
  return { name: _id, value, expiresAt: expiresAt?.toISOString() };
}
