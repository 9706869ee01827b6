// The read store on MongoDB: conditional replaces and plain finds, which stand-alone and compatible servers support too.
import { type AnyBulkWriteOperation, type Collection, MongoBulkWriteError } from "mongodb";
import { DomainError, messageOf } from "../../../runtime/errors.ts";
import { StoreFailed } from "../../connections/errors.ts";
import { isDuplicateKey, type MongodbConnection } from "../../connections/mongodb.ts";
import { collectionName, fieldName } from "../names.ts";
import {
  type Checkpoint,
  CheckpointMoved,
  type CollectionSpec,
  type CountQuery,
  type Document,
  type FindQuery,
  isSameCheckpoint,
  type ReadStore,
  type WriteBatch,
} from "../port.ts";
import { documentOf, storedParts } from "../stored-document.ts";
import { filterOf, type StoredDocument, sortOf } from "./query.ts";

/** `json`: the whole checkpoint. */
type StoredCheckpoint = Pick<Checkpoint, "position" | "eventId"> & { _id: string; json: string };

/** Of one bulk write: FerretDB 1.24 on SQLite never answers one that replaces a hundred stored documents. */
const MAX_OPERATIONS = 64;
/** The server's error code for a collection that does not exist. */
const NAMESPACE_NOT_FOUND = 26;

/** Collections get the prefix `docs_`; checkpoints are in `checkpoints`. */
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
        await this.#on(name, (stored) => stored.createIndex(Object.fromEntries(keys.map((key) => [key, 1]))));
      }
    }
  }

  async get<D extends Document>(collection: string, id: string): Promise<D | undefined> {
    const stored = await this.#on(collection, (all) => all.findOne({ _id: id }));
    return stored ? fromStored<D>(stored) : undefined;
  }

  async getMany<D extends Document>(collection: string, ids: readonly string[]): Promise<D[]> {
    if (ids.length === 0) return [];
    const $in = [...new Set(ids)];
    const stored = await this.#on(collection, (all) => all.find({ _id: { $in } }).toArray());
    return stored.map((document) => fromStored<D>(document));
  }

  async find<D extends Document>(collection: string, query: FindQuery): Promise<D[]> {
    const { limit, skip = 0 } = query;
    // MongoDB takes a limit of 0 for no limit.
    if (limit <= 0) return [];
    const filter = filterOf(query);
    const options = { sort: sortOf(query.sort), skip, limit };
    const stored = await this.#on(collection, (all) => all.find(filter, options).toArray());
    return stored.map((document) => fromStored<D>(document));
  }

  async count(collection: string, query: CountQuery): Promise<number> {
    const filter = filterOf(query);
    return await this.#on(collection, (all) => all.countDocuments(filter));
  }

  async write({ documents, checkpoint }: WriteBatch): Promise<void> {
    if (checkpoint) await this.#checkUnmoved(checkpoint);
    for (const { collection, documents: changed } of documents)
      for (let start = 0; start < changed.length; start += MAX_OPERATIONS)
        await this.#replace(collection, changed.slice(start, start + MAX_OPERATIONS));
    if (checkpoint) await this.#moveCheckpoint(checkpoint);
  }

  async checkpoint(name: string): Promise<Checkpoint | undefined> {
    const stored = await this.#checkpoints((all) => all.findOne({ _id: name }));
    return stored ? JSON.parse(stored.json) : undefined;
  }

  async checkpoints(): Promise<Record<string, Checkpoint>> {
    const stored = await this.#checkpoints((all) => all.find({}).toArray());
    return Object.fromEntries(stored.map(({ _id, json }) => [_id, JSON.parse(json)]));
  }

  async drop(collection: string): Promise<void> {
    await this.#on(collection, async (all) => {
      await all.drop().catch((error: unknown) => {
        if ((error as { code?: unknown }).code !== NAMESPACE_NOT_FOUND) throw error;
      });
    });
  }

  async dropCheckpoint(name: string): Promise<void> {
    await this.#checkpoints((all) => all.deleteOne({ _id: name }));
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #checkUnmoved({ name, from }: NonNullable<WriteBatch["checkpoint"]>): Promise<void> {
    const stored = await this.checkpoint(name);
    if (!isSameCheckpoint(stored, from)) throw new CheckpointMoved(name, stored);
  }

  async #moveCheckpoint({ name, from, to }: NonNullable<WriteBatch["checkpoint"]>): Promise<void> {
    const { position, eventId } = to;
    const stored: StoredCheckpoint = { _id: name, position, eventId, json: JSON.stringify(to) };
    const hasMoved = await this.#checkpoints(async (all) => {
      if (!from) return await isInserted(all.insertOne(stored));
      const unmoved = { _id: name, position: from.position, eventId: from.eventId };
      return (await all.replaceOne(unmoved, stored)).matchedCount === 1;
    });
    if (!hasMoved) throw new CheckpointMoved(name, await this.checkpoint(name));
  }

  async #replace(collection: string, documents: readonly Document[]): Promise<void> {
    let pending = documents;
    while (pending.length > 0) {
      const isComplete = await this.#bulkReplace(collection, pending);
      pending = isComplete ? [] : await this.#stillNewer(collection, pending);
    }
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
    return await this.#on(collection, async (all) => {
      try {
        await all.bulkWrite(operations, { ordered: false });
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
    const $in = documents.map(({ _id }) => _id);
    const projection = { _position: 1 };
    const stored = await this.#on(collection, (all) => all.find({ _id: { $in } }, { projection }).toArray());
    const positions = new Map(stored.map(({ _id, _position }) => [_id, _position]));
    return documents.filter(({ _id, _position }) => (positions.get(_id) ?? "") < _position);
  }

  #on<T>(name: string, work: (collection: Collection<StoredDocument>) => Promise<T>): Promise<T> {
    return this.#in(`docs_${collectionName(name)}`, work);
  }

  #checkpoints<T>(work: (collection: Collection<StoredCheckpoint>) => Promise<T>): Promise<T> {
    return this.#in("checkpoints", work);
  }

  async #in<S extends { _id: string }, T>(
    name: string,
    work: (collection: Collection<S>) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#connection.run((db) => work(db.collection<S>(name)));
    } catch (cause) {
      if (cause instanceof DomainError) throw cause;
      throw new StoreFailed(`MongoDB refuses the request: ${messageOf(cause)}`, { cause });
    }
  }
}

function toStored(document: Document): StoredDocument {
  const { fields, nested } = storedParts(document);
  return nested === undefined ? fields : { ...fields, _nested: nested };
}

function fromStored<D extends Document>({ _nested, ...fields }: StoredDocument): D {
  return documentOf<D>(fields, _nested);
}

async function isInserted(inserting: Promise<unknown>): Promise<boolean> {
  try {
    await inserting;
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

function hasDuplicatesAlone(error: unknown): boolean {
  if (!(error instanceof MongoBulkWriteError) || error.result.getWriteConcernError()) return false;
  const failures = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors];
  return failures.length > 0 && failures.every(({ code }) => code === 11_000);
}
