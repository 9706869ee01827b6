// Inserts new deliveries into MongoDB, each once: the unique `_id` rejects duplicates.
import { type Collection, MongoBulkWriteError } from "mongodb";
import { isDuplicateKey, type MongodbConnection } from "../../stores/connections/mongodb.ts";
import { type StoredDelivery, stored } from "./documents.mongodb.ts";
import { deliveryId, type NewDelivery } from "./queue.ts";

type Deliveries = Collection<StoredDelivery>;

/** Returns how many were new. @throws StoreUnavailable */
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
  for (let missing = [...byId.values()]; missing.length > 0; ) {
    const attempt = missing;
    const outcome = await on((all) => insertNew(all, attempt));
    added += outcome.added;
    if (outcome.settled) break;
    // Some compatible servers stop at the first duplicate `_id` despite `ordered: false`: retry the missing ones.
    const there = await on((all) => idsOf(all, attempt));
    missing = attempt.filter(({ _id }) => !there.has(_id));
  }
  return added;
}

/** `settled`: nothing remains to be inserted. Duplicates are no error: those deliveries are already queued. */
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
