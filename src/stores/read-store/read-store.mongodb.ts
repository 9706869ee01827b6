// The read store on MongoDB: conditional replaces and plain finds, which stand-alone and compatible servers support too.
import { isDeepStrictEqual } from "node:util";
import type { Collection } from "mongodb";
import { DomainError, messageOf } from "../../runtime/errors.ts";
import { StoreFailed } from "../connections/errors.ts";
import { isDuplicateKey, type MongodbConnection } from "../connections/mongodb.ts";
import type { Position } from "../event-store/port.ts";
import { collectionName, fieldName } from "./names.ts";
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
} from "./port.ts";
import { filterOf, type StoredDocument, sortOf } from "./query.mongodb.ts";
import {
  differenceFrom,
  type Left,
  lastOf,
  leaveReceipt,
  namedIn,
  receiptsOf,
  removeReceipts,
  type StoredReceipt,
} from "./receipts.mongodb.ts";
import { storedParts } from "./stored-document.ts";

/** `json`: the whole checkpoint. `term`: counts commits that have begun. What they have left: receipts.ts. */
type StoredCheckpoint = Pick<Checkpoint, "position" | "eventId"> &
  Left & { _id: string; json: string; term: number };

/** Of one bulk write, each with the round trips and the journal of a request. */
const MAX_OPERATIONS = 1_000;
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

  async getMany<D extends Document>(
    collection: string,
    ids: readonly string[],
    fields?: readonly string[],
  ): Promise<D[]> {
    if (ids.length === 0) return [];
    const $in = [...new Set(ids)];
    const wanted = fields?.flatMap((field) => [fieldName(field), `_nested.${field}`]);
    const stored = await this.#on(collection, (all) =>
      all.find({ _id: { $in } }, projection(wanted)).toArray(),
    );
    return stored.map((document) => fromStored<D>(document));
  }

  async find<D extends Document>(collection: string, query: FindQuery): Promise<D[]> {
    const { limit } = query;
    // MongoDB takes a limit of 0 for no limit.
    if (limit <= 0) return [];
    const filter = filterOf(query);
    const options = { sort: sortOf(query.sort), limit, ...projection(query.fields?.map(fieldName)) };
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
    const named = namedIn(documents);
    // Without documents the checkpoint alone says whether another holder has moved it.
    const begun = checkpoint && (named.length > 0 || !checkpoint.from) && (await this.#begin(checkpoint));
    const { term } = begun || {};
    const moved = async () =>
      new CheckpointMoved(checkpoint?.name ?? "", checkpoint && (await this.checkpoint(checkpoint.name)));
    for (const { collection, documents: changed, replaced } of documents)
      for (const part of parts(changed))
        if (!replaced) await this.#replace(collection, part, term);
        else if (!(await this.#replaceUnchanged(collection, part, replaced, term))) throw await moved();
    const isLeft = await this.#receipts(async (all) => {
      return !begun || named.length === 0 || (await isNew(leaveReceipt(all, checkpoint.name, begun, named)));
    });
    if (!isLeft) throw await moved();
    // What is removed is named before, as its absence would be taken for that of an older copy.
    for (const { collection, removed = [] } of documents)
      for (const part of parts(removed)) await this.#remove(collection, part, term);
    const left = begun && named.length > 0 ? { receipt: begun.receipt, ...lastOf(named) } : {};
    if (checkpoint && !(await this.#hasMoved(checkpoint, term, left))) throw await moved();
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
      const documents = await this.#on(collection, (all) =>
        all.find({ _id: { $in: ids } }, { projection }).toArray(),
      );
      return new Map(documents.map((document) => [document._id, String(document._position)]));
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

  /**
   * Notes up to where documents may be from now on, and begins a term, after which no commit that has begun before writes
   * what a later one has written. Returns it, and the number of its receipt. @throws CheckpointMoved
   */
  async #begin({ name, from, to }: MovedCheckpoint): Promise<{ receipt: number; term: number }> {
    const begun = { $max: { begun: to.position }, $inc: { term: 1 } };
    const stored = await this.#checkpoints((all) =>
      from
        ? all.findOneAndUpdate(unmoved(name, from), begun, { returnDocument: "after" })
        : all.findOne({ _id: name }),
    );
    if (from ? !stored : stored) throw new CheckpointMoved(name, await this.checkpoint(name));
    if (!from) await this.#receipts((all) => removeReceipts(all, name));
    return { receipt: (stored?.receipt ?? 0) + 1, term: stored?.term ?? 0 };
  }

  /** False where another holder has moved it, or has begun to write documents. */
  async #hasMoved(
    { name, from, to }: MovedCheckpoint,
    term: number | undefined,
    left: Partial<Left>,
  ): Promise<boolean> {
    const { position, eventId } = to;
    const moved = { position, eventId, json: JSON.stringify(to), ...left };
    return await this.#checkpoints(async (all) => {
      if (!from)
        return await isNew(all.insertOne({ _id: name, receipt: 0, term: 0, begun: position, ...moved }));
      const filter = { ...unmoved(name, from), ...(term !== undefined && { term }) };
      return (await all.updateOne(filter, { $set: moved })).matchedCount === 1;
    });
  }

  async #replace(collection: string, documents: readonly Document[], term?: number): Promise<void> {
    const operations = documents.map((document) => ({
      replaceOne: { ...replacement(document, term), upsert: true },
    }));
    const isComplete = await this.#on(collection, (all) =>
      isNew(all.bulkWrite(operations, { ordered: false })),
    );
    if (isComplete) return;
    // A stored document is as new, or another writer inserted it, older or not, at the same moment. Some compatible
    // servers stop there, so that what has become of the others is unknown.
    if (documents.length > 1)
      for (const document of documents) await this.#replace(collection, [document], term);
    else for (const document of documents) await this.#replaceStored(collection, document, term);
  }

  /**
   * False where a stored one has another position than it must have. In order, so that of a table's chunks no later one is there
   * without those before it after a crash of a shard.
   */
  async #replaceUnchanged(
    collection: string,
    documents: readonly Document[],
    replaced: ReadonlyMap<string, Position>,
    term?: number,
  ): Promise<boolean> {
    const operations = documents.map((document) => {
      const { _id } = document;
      const _position = replaced.get(_id) ?? "";
      // No position is empty, so that nothing but an insert can come of it.
      return {
        replaceOne: {
          filter: { _id, _position, ...ofNoLater(term) },
          replacement: toStored(document, term),
          upsert: _position === "",
        },
      };
    });
    return await this.#on(collection, async (all) => {
      let written = 0;
      const isComplete = await isNew(
        all.bulkWrite(operations, { ordered: true }).then(({ matchedCount, upsertedCount }) => {
          written = matchedCount + upsertedCount;
        }),
      );
      return isComplete && written === documents.length;
    });
  }

  async #remove(
    collection: string,
    removed: readonly { id: string; position: Position }[],
    term?: number,
  ): Promise<void> {
    const operations = removed.map(({ id: _id, position: _position }) => ({
      deleteOne: { filter: { _id, _position, ...ofNoLater(term) } },
    }));
    await this.#on(collection, (all) => all.bulkWrite(operations, { ordered: false }));
  }

  async #replaceStored(collection: string, document: Document, term?: number): Promise<void> {
    const { filter, replacement: stored } = replacement(document, term);
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

function projection(paths: readonly string[] | undefined) {
  if (!paths) return {};
  return { projection: Object.fromEntries([...paths, "_position"].map((path) => [path, 1])) };
}

function unmoved(name: string, { position, eventId }: Checkpoint) {
  return { _id: name, position, eventId };
}

/** What no commit has written that began later. */
function ofNoLater(term: number | undefined) {
  return term === undefined ? {} : { _term: { $not: { $gt: term } } };
}

function toStored(document: Document, term: number | undefined): StoredDocument {
  const { fields, nested } = storedParts(document);
  return {
    ...fields,
    ...(nested && { _nested: eachAsText(nested) }),
    ...(term !== undefined && { _term: term }),
  };
}

function fromStored<D extends Document>({ _nested, _term, ...fields }: StoredDocument): D {
  for (const [name, text] of Object.entries(_nested ?? {}))
    (fields as Record<string, unknown>)[name] = JSON.parse(text);
  return fields as Document as D;
}

function eachAsText(nested: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(nested).map(([name, value]) => [name, JSON.stringify(value)]));
}

/** Of a document that is replaced where the stored one is older. */
function replacement(document: Document, term: number | undefined) {
  const filter = { _id: document._id, _position: { $lt: document._position }, ...ofNoLater(term) };
  return { filter, replacement: toStored(document, term) };
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
