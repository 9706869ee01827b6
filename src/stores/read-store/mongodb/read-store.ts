// The read store on MongoDB: conditional replaces and plain finds, which stand-alone and compatible servers support too.
import { isDeepStrictEqual } from "node:util";
import type { Collection } from "mongodb";
import { DomainError, messageOf } from "../../../runtime/errors.ts";
import { StoreFailed } from "../../connections/errors.ts";
import { isDuplicateKey, type MongodbConnection } from "../../connections/mongodb.ts";
import type { Position } from "../../event-store/port.ts";
import { collectionName, fieldName } from "../names.ts";
import {
  type Checkpoint,
  CheckpointMoved,
  type CollectionSpec,
  type CountQuery,
  type Document,
  type ElementCount,
  type ElementQuery,
  type FindQuery,
  type ReadStore,
  type WriteBatch,
} from "../port.ts";
import { documentOf, storedParts } from "../stored-document.ts";
import { filterOf, type StoredDocument, sortOf } from "./query.ts";
import {
  differenceFrom,
  type Left,
  lastOf,
  leaveReceipt,
  namedIn,
  receiptsOf,
  removeReceipts,
  type StoredReceipt,
} from "./receipts.ts";

/** `json`: the whole checkpoint. What its commits have left: receipts.ts. */
type StoredCheckpoint = Pick<Checkpoint, "position" | "eventId"> & Left & { _id: string; json: string };

/**
 * Of one bulk write. FerretDB 1.24 on SQLite has a hundred connections a database, and keeps one for each stored document
 * that a bulk write replaces until it ends: where the builds of some processes commit at once and hold all of them, it
 * answers nobody ever again.
 */
const MAX_OPERATIONS = 16;
/** The server's error code for a collection that does not exist. */
const NAMESPACE_NOT_FOUND = 26;

/** A living holder changes what is checked while it is read. */
const MOST_LOOKS = 5;

/** All its collections have names that begin with `docs_`, by which a dump leaves them out. */
export async function openMongodbReadStore(connection: MongodbConnection): Promise<ReadStore> {
  return new MongodbReadStore(connection);
}

type MovedCheckpoint = NonNullable<WriteBatch["checkpoint"]>;

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
    const { limit } = query;
    // MongoDB takes a limit of 0 for no limit.
    if (limit <= 0) return [];
    const filter = filterOf(query);
    const options = { sort: sortOf(query.sort), limit, ...projection(query.fields) };
    const stored = await this.#on(collection, (all) => all.find(filter, options).toArray());
    return stored.map((document) => fromStored<D>(document));
  }

  async count(collection: string, query: CountQuery): Promise<number> {
    const filter = filterOf(query);
    return await this.#on(collection, (all) => all.countDocuments(filter));
  }

  async countElements(
    collection: string,
    { field, limit, ...query }: CountQuery & ElementQuery,
  ): Promise<ElementCount[]> {
    if (limit <= 0) return [];
    const element = `$${fieldName(field)}`;
    const stages = [
      { $match: filterOf(query) },
      { $unwind: element },
      { $group: { _id: element, documents: { $sum: 1 } } },
      { $sort: { documents: -1, _id: 1 } },
      { $limit: limit },
    ];
    const rows = await this.#on(collection, (all) =>
      all.aggregate<{ _id: string; documents: number }>(stages).toArray(),
    );
    return rows.map(({ _id, documents }) => ({ element: _id, documents }));
  }

  async write({ documents, checkpoint }: WriteBatch): Promise<void> {
    const receipt = checkpoint && (await this.#begin(checkpoint));
    for (const { collection, documents: changed, replaced } of documents)
      for (const part of parts(changed))
        if (!replaced) await this.#replace(collection, part);
        else if (!(await this.#replaceUnchanged(collection, part, replaced)))
          throw new CheckpointMoved(
            checkpoint?.name ?? "",
            checkpoint && (await this.checkpoint(checkpoint.name)),
          );
    const named = namedIn(documents);
    if (checkpoint && receipt !== undefined && named.length > 0)
      await this.#receipts((all) => leaveReceipt(all, checkpoint.name, receipt, named));
    // What is removed is named before, as its absence would be taken for that of an older copy.
    for (const { collection, removed = [] } of documents)
      for (const part of parts(removed)) await this.#remove(collection, part);
    if (checkpoint && receipt !== undefined)
      await this.#moveCheckpoint(checkpoint, named.length > 0 ? { receipt, ...lastOf(named) } : {});
  }

  async inconsistency(name: string): Promise<string | undefined> {
    for (let look = 1; look <= MOST_LOOKS; look++) {
      const before = await this.#checkpoints((all) => all.findOne({ _id: name }));
      if (!before) return undefined;
      const problem = await this.#problemOf(before);
      if (!problem) return undefined;
      const after = await this.#checkpoints((all) => all.findOne({ _id: name }));
      if (isDeepStrictEqual(before, after)) return problem;
    }
    // Its holder looked before it began, and no commit leaves it otherwise.
    return undefined;
  }

  async #problemOf(checkpoint: StoredCheckpoint): Promise<string | undefined> {
    const receipts = await this.#receipts((all) => receiptsOf(all, checkpoint._id));
    return await differenceFrom(receipts, checkpoint, async (collection, ids) => {
      const projection = { _position: 1 };
      const found = await this.#on(collection, (all) =>
        all.find({ _id: { $in: ids } }, { projection }).toArray(),
      );
      return new Map(found.map((document) => [document._id, String(document._position)]));
    });
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
    await this.#receipts((all) => removeReceipts(all, name));
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  /** Notes up to where documents may be from now on, and returns the number of its receipt. @throws CheckpointMoved */
  async #begin({ name, from, to }: MovedCheckpoint): Promise<number> {
    const begun = { $max: { begun: to.position } };
    const stored = await this.#checkpoints((all) =>
      from ? all.findOneAndUpdate(unmoved(name, from), begun) : all.findOne({ _id: name }),
    );
    if (from ? !stored : stored) throw new CheckpointMoved(name, await this.checkpoint(name));
    if (!from) await this.#receipts((all) => removeReceipts(all, name));
    return (stored?.receipt ?? 0) + 1;
  }

  async #moveCheckpoint({ name, from, to }: MovedCheckpoint, left: Partial<Left>): Promise<void> {
    const { position, eventId } = to;
    const moved = { position, eventId, json: JSON.stringify(to), ...left };
    const hasMoved = await this.#checkpoints(async (all) => {
      if (!from) return await isNew(all.insertOne({ _id: name, receipt: 0, begun: position, ...moved }));
      return (await all.updateOne(unmoved(name, from), { $set: moved })).matchedCount === 1;
    });
    if (!hasMoved) throw new CheckpointMoved(name, await this.checkpoint(name));
  }

  async #replace(collection: string, documents: readonly Document[]): Promise<void> {
    const operations = documents.map((document) => ({
      replaceOne: { ...replacement(document), upsert: true },
    }));
    const isComplete = await this.#on(collection, (all) =>
      isNew(all.bulkWrite(operations, { ordered: false })),
    );
    if (isComplete) return;
    // A stored document is as new, or another writer inserted it, older or not, at the same moment. Some compatible
    // servers stop there, so that what has become of the others is unknown.
    if (documents.length > 1) for (const document of documents) await this.#replace(collection, [document]);
    else for (const document of documents) await this.#replaceStored(collection, document);
  }

  /** False where a stored one has another position than it must have. */
  async #replaceUnchanged(
    collection: string,
    documents: readonly Document[],
    replaced: ReadonlyMap<string, Position>,
  ): Promise<boolean> {
    const operations = documents.map((document) => {
      const { _id } = document;
      const _position = replaced.get(_id) ?? "";
      // No position is empty, so that nothing but an insert can come of it.
      return {
        replaceOne: { filter: { _id, _position }, replacement: toStored(document), upsert: _position === "" },
      };
    });
    return await this.#on(collection, async (all) => {
      let written = 0;
      const isComplete = await isNew(
        all.bulkWrite(operations, { ordered: false }).then(({ matchedCount, upsertedCount }) => {
          written = matchedCount + upsertedCount;
        }),
      );
      return isComplete && written === documents.length;
    });
  }

  async #remove(collection: string, removed: readonly { id: string; position: Position }[]): Promise<void> {
    const operations = removed.map(({ id: _id, position: _position }) => ({
      deleteOne: { filter: { _id, _position } },
    }));
    await this.#on(collection, (all) => all.bulkWrite(operations, { ordered: false }));
  }

  async #replaceStored(collection: string, document: Document): Promise<void> {
    const { filter, replacement: stored } = replacement(document);
    await this.#on(collection, (all) => all.replaceOne(filter, stored));
  }

  #on<T>(name: string, work: (collection: Collection<StoredDocument>) => Promise<T>): Promise<T> {
    return this.#in(`docs_${collectionName(name)}`, work);
  }

  #checkpoints<T>(work: (collection: Collection<StoredCheckpoint>) => Promise<T>): Promise<T> {
    return this.#in("docs__checkpoints", work);
  }

  #receipts<T>(work: (collection: Collection<StoredReceipt>) => Promise<T>): Promise<T> {
    return this.#in("docs__receipts", work);
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

function* parts<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < all.length; start += MAX_OPERATIONS)
    yield all.slice(start, start + MAX_OPERATIONS);
}

/** Nested ones are one text. */
function projection(fields: readonly string[] | undefined) {
  if (!fields) return {};
  return {
    projection: Object.fromEntries([...fields.map(fieldName), "_position"].map((field) => [field, 1])),
  };
}

function unmoved(name: string, { position, eventId }: Checkpoint) {
  return { _id: name, position, eventId };
}

function toStored(document: Document): StoredDocument {
  const { fields, nested } = storedParts(document);
  return nested === undefined ? fields : { ...fields, _nested: nested };
}

function fromStored<D extends Document>({ _nested, ...fields }: StoredDocument): D {
  return documentOf<D>(fields, _nested);
}

/** Of a document that is replaced where the stored one is older. */
function replacement(document: Document) {
  const filter = { _id: document._id, _position: { $lt: document._position } };
  return { filter, replacement: toStored(document) };
}

/** False when a document with the same `_id` was there already. */
async function isNew(writing: Promise<unknown>): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}
