// The read store on MongoDB, with nothing that a stand-alone or a compatible server lacks: guarded replaces, plain finds.
import { type AnyBulkWriteOperation, type Collection, type Db, MongoBulkWriteError } from "mongodb";
import { isDuplicateKey, type MongodbConnection } from "../../connections/mongodb.ts";
import { collectionName, fieldName } from "../names.ts";
import type { Checkpoint, CollectionSpec, Document, FindQuery, ReadStore } from "../port.ts";
import { fromStored, type StoredDocument, toStored } from "./documents.ts";
import { filterOf, sortOf } from "./query.ts";

type StoredCheckpoint = Checkpoint & { _id: string };

/** Documents in collections of their own names with `docs_` before, checkpoints in `checkpoints`. */
/** What a server says that has no such collection. */
const NAMESPACE_NOT_FOUND = 26;

export async function openMongodbReadStore(connection: MongodbConnection): Promise<ReadStore> {
  return new MongodbReadStore(connection);
}

class MongodbReadStore implements ReadStore {
  readonly #connection: MongodbConnection;

  constructor(connection: MongodbConnection) {
    this.#connection = connection;
  }

  async ensure(specs: readonly CollectionSpec[]): Promise<void> {
    for (const { name, indexes } of specs) {
      for (const fields of indexes) {
        // `_id` last, so that paging by (field, _id) needs no sort.
        const keys = [...new Set([...fields.map(fieldName), "_id"])];
        await this.#on(name, (collection) =>
          collection.createIndex(Object.fromEntries(keys.map((key) => [key, 1]))),
        );
      }
    }
  }

  async get<D extends Document>(collection: string, id: string): Promise<D | undefined> {
    const found = await this.#on(collection, (documents) => documents.findOne({ _id: id }));
    return found ? fromStored<D>(found) : undefined;
  }

  async getMany<D extends Document>(collection: string, ids: readonly string[]): Promise<D[]> {
    if (ids.length === 0) return [];
    const wanted = [...new Set(ids)];
    const found = await this.#on(collection, (documents) =>
      documents.find({ _id: { $in: wanted } }).toArray(),
    );
    return found.map((stored) => fromStored<D>(stored));
  }

  async find<D extends Document>(collection: string, query: FindQuery): Promise<D[]> {
    // To MongoDB a limit of 0 is no limit.
    if (query.limit <= 0) return [];
    const filter = filterOf(query);
    const sort = sortOf(query.sort);
    const found = await this.#on(collection, (documents) =>
      documents.find(filter).sort(sort).limit(query.limit).toArray(),
    );
    return found.map((stored) => fromStored<D>(stored));
  }

  async count(collection: string, query: Omit<FindQuery, "limit" | "sort" | "after">): Promise<number> {
    const filter = filterOf(query);
    return await this.#on(collection, (documents) => documents.countDocuments(filter));
  }

  async replace(collection: string, documents: readonly Document[]): Promise<void> {
    let open = documents;
    while (open.length > 0) {
      const settled = await this.#replaceAtOnce(collection, open);
      // Some compatible servers stop at the first taken `_id` though told to go on: look what is left.
      open = settled ? [] : await this.#stillNewer(collection, open);
    }
  }

  async clear(collection: string): Promise<void> {
    await this.#on(collection, (documents) => documents.deleteMany({}));
  }

  async drop(collection: string): Promise<void> {
    await this.#on(collection, async (documents) => {
      await documents.drop().catch((error: unknown) => {
        if ((error as { code?: unknown }).code !== NAMESPACE_NOT_FOUND) throw error;
      });
    });
  }

  async checkpoint(projection: string): Promise<Checkpoint | undefined> {
    const found = await this.#checkpoints((all) => all.findOne({ _id: projection }));
    return found ? withoutId(found) : undefined;
  }

  async checkpoints(): Promise<Record<string, Checkpoint>> {
    const found = await this.#checkpoints((all) => all.find({}).toArray());
    return Object.fromEntries(found.map((checkpoint) => [checkpoint._id, withoutId(checkpoint)]));
  }

  async saveCheckpoint(projection: string, checkpoint: Checkpoint): Promise<void> {
    // Equal positions are taken, so that a fault right after the checkpoint can be noted.
    const notAhead = { _id: projection, position: { $lte: checkpoint.position } };
    await this.#checkpoints(async (all) => {
      try {
        await all.replaceOne(notAhead, checkpoint, { upsert: true });
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
      }
    });
  }

  async resetCheckpoint(projection: string): Promise<void> {
    await this.#checkpoints((all) => all.deleteOne({ _id: projection }));
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  /** False when what has become of some of them is unknown. */
  async #replaceAtOnce(collection: string, documents: readonly Document[]): Promise<boolean> {
    const operations: AnyBulkWriteOperation<StoredDocument>[] = documents.map((document) => ({
      replaceOne: {
        filter: { _id: document._id, _position: { $lt: document._position } },
        replacement: toStored(document),
        upsert: true,
      },
    }));
    return await this.#on(collection, async (stored) => {
      try {
        await stored.bulkWrite(operations, { ordered: false });
        return true;
      } catch (error) {
        // The upsert of a guarded replace finds the `_id` taken when what is stored is as new or newer.
        const taken = takenIds(error);
        if (taken === undefined) throw error;
        const { matchedCount, upsertedCount } = (error as MongoBulkWriteError).result;
        return matchedCount + upsertedCount + taken === operations.length;
      }
    });
  }

  async #stillNewer(collection: string, documents: readonly Document[]): Promise<Document[]> {
    const ids = documents.map(({ _id }) => _id);
    const stored = await this.#on(collection, (all) =>
      all
        .find({ _id: { $in: ids } })
        .project<Document>({ _position: 1 })
        .toArray(),
    );
    const positions = new Map(stored.map(({ _id, _position }) => [_id, _position]));
    return documents.filter(({ _id, _position }) => (positions.get(_id) ?? "") < _position);
  }

  #on<T>(name: string, work: (collection: Collection<StoredDocument>) => Promise<T>): Promise<T> {
    return this.#run((db) => work(db.collection<StoredDocument>(`docs_${collectionName(name)}`)));
  }

  #checkpoints<T>(work: (collection: Collection<StoredCheckpoint>) => Promise<T>): Promise<T> {
    return this.#run((db) => work(db.collection<StoredCheckpoint>("checkpoints")));
  }

  /** Async, so that a bad name too is a rejection. */
  async #run<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return await this.#connection.run(async (db) => await work(db));
  }
}

/** How many writes found their `_id` taken; undefined when anything else went wrong. */
function takenIds(error: unknown): number | undefined {
  if (!(error instanceof MongoBulkWriteError) || error.result.getWriteConcernError()) return undefined;
  const failures = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors];
  const allTaken = failures.length > 0 && failures.every(({ code }) => code === 11_000);
  return allTaken ? failures.length : undefined;
}

function withoutId({ _id, ...checkpoint }: StoredCheckpoint): Checkpoint {
  return checkpoint;
}
