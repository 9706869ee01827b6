// The secret store on MongoDB: one document for each key, made unique by `_id`; expiry is checked against the caller's clock.
import type { Collection } from "mongodb";
import { isDuplicateKey, type MongodbConnection } from "../connections/mongodb.ts";
import { endOf, type SecretRecord, type SecretStore, type StoredSecret } from "./port.ts";

/** `value` is JSON text, so that no key inside it is taken for an operator or a path. */
type SecretDocument = { _id: string; value: string; expiresAt: Date | null };

/** Works before prepareSecrets too, without an index. */
export function mongodbSecrets(connection: MongodbConnection): SecretStore {
  return new MongodbSecrets(connection);
}

/** Creates the index. Idempotent, also concurrently. @throws StoreUnavailable */
export async function prepareSecrets(connection: MongodbConnection): Promise<void> {
  await connection.run((db) => db.collection<SecretDocument>("secrets").createIndex({ expiresAt: 1 }));
}

class MongodbSecrets implements SecretStore {
  readonly #connection: MongodbConnection;

  constructor(connection: MongodbConnection) {
    this.#connection = connection;
  }

  async get(key: string, now: Date): Promise<unknown | undefined> {
    return unexpiredValue(await this.#run((secrets) => secrets.findOne({ _id: key })), now);
  }

  async list(prefix: string, now: Date): Promise<{ key: string; value: unknown }[]> {
    const under = { _id: { $gte: prefix, $lt: endOf(prefix) }, ...unexpired(now) };
    const found = await this.#run((secrets) => secrets.find(under).sort({ _id: 1 }).toArray());
    return found.map(({ _id, value }) => ({ key: _id, value: JSON.parse(value) }));
  }

  async putIfAbsent(key: string, record: SecretRecord, now: Date): Promise<unknown> {
    const secret = stored(key, record);
    for (;;) {
      if (await this.#insert(secret)) return record.value;
      const expired = { _id: key, expiresAt: { $lte: now, $ne: null } };
      const { matchedCount } = await this.#run((secrets) => secrets.replaceOne(expired, secret));
      if (matchedCount === 1) return record.value;
      const earlier = await this.get(key, now);
      // Deleted between the two calls, so another insert may succeed.
      if (earlier !== undefined) return earlier;
    }
  }

  async putIfPresent(key: string, record: SecretRecord, now: Date): Promise<boolean> {
    const secret = stored(key, record);
    const present = { _id: key, ...unexpired(now) };
    return (await this.#run((secrets) => secrets.replaceOne(present, secret))).matchedCount === 1;
  }

  async put(key: string, record: SecretRecord): Promise<void> {
    const secret = stored(key, record);
    await this.#run((secrets) => secrets.replaceOne({ _id: key }, secret, { upsert: true }));
  }

  async delete(key: string): Promise<void> {
    await this.#run((secrets) => secrets.deleteOne({ _id: key }));
  }

  async take(key: string, now: Date): Promise<unknown | undefined> {
    const found = await this.#run((secrets) => secrets.findOne({ _id: key }));
    if (!found) return undefined;
    // Not findOneAndDelete: some compatible servers return the document to several callers, but count one deletion.
    const { deletedCount } = await this.#run((secrets) =>
      secrets.deleteOne({ _id: key, value: found.value }),
    );
    return deletedCount === 1 ? unexpiredValue(found, now) : undefined;
  }

  async sweep(now: Date): Promise<number> {
    const expired = { expiresAt: { $lte: now, $ne: null } };
    return (await this.#run((secrets) => secrets.deleteMany(expired))).deletedCount;
  }

  async page(after: string, limit: number): Promise<StoredSecret[]> {
    const next = { _id: { $gt: after } };
    const found = await this.#run((secrets) => secrets.find(next).sort({ _id: 1 }).limit(limit).toArray());
    return found.map(({ _id, value, expiresAt }) => ({
      key: _id,
      value: JSON.parse(value),
      ...(expiresAt === null ? {} : { expiresAt: expiresAt.toISOString() }),
    }));
  }

  async replace(secret: StoredSecret, value: unknown): Promise<boolean> {
    const same = { _id: secret.key, value: JSON.stringify(secret.value) };
    const other = { $set: { value: JSON.stringify(value) } };
    return (await this.#run((secrets) => secrets.updateOne(same, other))).matchedCount === 1;
  }

  async remove(secret: StoredSecret): Promise<boolean> {
    const same = { _id: secret.key, value: JSON.stringify(secret.value) };
    return (await this.#run((secrets) => secrets.deleteOne(same))).deletedCount === 1;
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  /** False when the key exists. */
  async #insert(secret: SecretDocument): Promise<boolean> {
    return await this.#run(async (secrets) => {
      try {
        await secrets.insertOne(secret);
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    });
  }

  #run<T>(work: (secrets: Collection<SecretDocument>) => Promise<T>): Promise<T> {
    return this.#connection.run((db) => work(db.collection<SecretDocument>("secrets")));
  }
}

/** A part of a filter. */
function unexpired(now: Date) {
  return { $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] };
}

function unexpiredValue(found: SecretDocument | null, now: Date): unknown | undefined {
  if (!found || (found.expiresAt !== null && found.expiresAt <= now)) return undefined;
  return JSON.parse(found.value);
}

function stored(key: string, { value, expiresAt }: SecretRecord): SecretDocument {
  return {
    _id: key,
    value: JSON.stringify(value),
    expiresAt: expiresAt === undefined ? null : new Date(expiresAt),
  };
}
