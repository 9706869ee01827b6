// New deliveries into MongoDB, each once: the unique `_id` decides who was first.
import { type Collection, MongoBulkWriteError } from "mongodb";
import { isDuplicateKey, type MongodbConnection } from "../../connections/mongodb.ts";
import { type StoredDelivery, stored } from "./queue.mongodb-documents.ts";
import { deliveryId, type NewDelivery } from "./queue.ts";

type Deliveries = Collection<StoredDelivery>;

/** Answers how many were not there yet. @throws StoreUnavailable */
export async function insertMissing(
  connection: MongodbConnection,
  deliveries: readonly NewDelivery[],
  now: string,
): Promise<number> {
  const on = <T>(work: (all: Deliveries) => Promise<T>) =>
    connection.run((db) => work(db.collection<StoredDelivery>("deliveries")));
  const byId = new Map(
    deliveries.map((delivery) => {
      const id = deliveryId(delivery.webhookId, delivery.eventId);
      return [id, stored(id, delivery, now)] as const;
    }),
  );
  let added = 0;
  for (let left = [...byId.values()]; left.length > 0; ) {
    const attempt = left;
    const outcome = await on((all) => insertNew(all, attempt));
    added += outcome.added;
    if (outcome.settled) break;
    // Some compatible servers stop at the first taken `_id` though told to go on: look what is left.
    const there = await on((all) => idsOf(all, attempt));
    left = attempt.filter(({ _id }) => !there.has(_id));
  }
  return added;
}

/** `settled`: nothing is left to insert. Taken ids are no error: those deliveries are queued already. */
async function insertNew(
  all: Deliveries,
  documents: readonly StoredDelivery[],
): Promise<{ added: number; settled: boolean }> {
  try {
    return { added: (await all.insertMany(documents, { ordered: false })).insertedCount, settled: true };
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError) || !isDuplicateKey(error)) throw error;
    const failures = [error.writeErrors].flat();
    if (failures.length === 0 || failures.some(({ code }) => code !== 11_000)) throw error;
    const added = error.result.insertedCount;
    return { added, settled: added + failures.length === documents.length };
  }
}

async function idsOf(all: Deliveries, documents: readonly StoredDelivery[]): Promise<Set<string>> {
  const ids = documents.map(({ _id }) => _id);
  const there = await all
    .find({ _id: { $in: ids } })
    .project<{ _id: string }>({ _id: 1 })
    .toArray();
  return new Set(there.map(({ _id }) => _id));
}
