// The read store on MongoDB: conditional replaces and plain finds, which stand-alone and compatible servers support too.
import { type AnyBulkWriteOperation, type Collection, MongoBulkWriteError } from "mongodb";
import { isDuplicateKey, type MongodbConnection } from "../../connections/mongodb.ts";
import { collectionName, fieldName } from "../names.ts";
import type {
  Checkpoint,
  CollectionSpec,
  CountQuery,
  Document,
  FindQuery,
  ReadStore,
  WriteBatch,
} from "../port.ts";
import { fromStored, type StoredDocument, toStored } from "./documents.ts";
import { filterOf, sortOf } from "./query.ts";
import { mongodbWriteBatch } from "./write-batch.ts";

type StoredCheckpoint = Checkpoint & { _id: string };

/** Of one bulk write: FerretDB 1.24 on SQLite never answers one that replaces a hundred stored documents. */
const MAX_OPERATIONS = 64;
/** The server's error code for a collection that does not exist. */
const NAMESPACE_NOT_FOUND = 26;

/** Collections get the prefix `docs_`; checkpoints are in `checkpoints`. */
export async function openMongodbReadStore(connection: MongodbConnection): Promise<ReadStore> {
  return new MongodbReadStore(connection);
}

class MongodbReadStore implements ReadStore {
  readonly readsAtATime = 500;
  readonly #connection: MongodbConnection;

  constructor(connection: MongodbConnection) {
    this.#connection = connection;
  }

  async ensure(specs: readonly CollectionSpec[]): Promise<void> {
    for (const { name, indexes, partialIndexes = [] } of specs) {
      for (const fields of [...indexes, ...partialIndexes]) {
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
    // MongoDB takes a limit of 0 for no limit.
    if (query.limit <= 0) return [];
    const filter = filterOf(query);
    const sort = sortOf(query.sort);
    const found = await this.#on(collection, (documents) =>
      documents
        .find(filter)
        .sort(sort)
        .skip(query.skip ?? 0)
        .limit(query.limit)
        .toArray(),
    );
    return found.map((stored) => fromStored<D>(stored));
  }

  async count(collection: string, query: CountQuery): Promise<number> {
    const filter = filterOf(query);
    return await this.#on(collection, (documents) => documents.countDocuments(filter));
  }

  async replace(collection: string, documents: readonly Document[]): Promise<void> {
    for (let start = 0; start < documents.length; start += MAX_OPERATIONS)
      await this.#replaceSome(collection, documents.slice(start, start + MAX_OPERATIONS));
  }

  async #replaceSome(collection: string, documents: readonly Document[]): Promise<void> {
    let pending = documents;
    while (pending.length > 0) {
      const isComplete = await this.#bulkReplace(collection, pending);
      pending = isComplete ? [] : await this.#stillNewer(collection, pending);
    }
  }

  writeBatch(): WriteBatch {
    return mongodbWriteBatch(this);
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
    // Also at an equal position: that of the last event before one that is waited for.
    const notAhead = { _id: projection, position: { $lte: checkpoint.position } };
    // With its `_id`, which some compatible servers don't take from the filter of a guarded upsert.
    const stored: StoredCheckpoint = { _id: projection, ...checkpoint };
    await this.#checkpoints(async (all) => {
      try {
        await all.replaceOne(notAhead, stored, { upsert: true });
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

  /** False when the outcome of some documents is unknown. */
  async #bulkReplace(collection: string, documents: readonly Document[]): Promise<boolean> {
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
        // A duplicate `_id`: the stored document is as new, or another writer inserted it, older or not, at the same
        // moment. Some compatible servers stop there.
        if (!hasDuplicatesAlone(error)) throw error;
        return false;
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
    return this.#connection.run((db) => work(db.collection<StoredDocument>(`docs_${collectionName(name)}`)));
  }

  #checkpoints<T>(work: (collection: Collection<StoredCheckpoint>) => Promise<T>): Promise<T> {
    return this.#connection.run((db) => work(db.collection<StoredCheckpoint>("checkpoints")));
  }
}

function hasDuplicatesAlone(error: unknown): boolean {
  if (!(error instanceof MongoBulkWriteError) || error.result.getWriteConcernError()) return false;
  const failures = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors];
  return failures.length > 0 && failures.every(({ code }) => code === 11_000);
}

function withoutId({ _id, ...checkpoint }: StoredCheckpoint): Checkpoint {
  return checkpoint;
}
