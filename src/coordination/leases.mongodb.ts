// Leases on MongoDB: one document a name with its holder and its end, taken by one update that is guarded by both.
import type { Collection, Db } from "mongodb";
import { isDuplicateKey, type MongodbConnection } from "../connections/mongodb.ts";
import type { Leases } from "./leases.ts";

/** `expiresAt`: by the server's clock, the only one that all processes share. */
type LeaseDocument = { _id: string; holder: string; expiresAt: Date };

/**
 * The time is asked of the server and handed back to it, because compatible servers know no `$$NOW` in an update; that
 * it is late by a round trip only makes a lease shorter. An insert where nothing matched, because such a server
 * upserts a guarded update without its `_id`; one that also lets two guarded updates win has two holders until the
 * first renewal. Methods throw StoreUnavailable.
 */
export function mongodbLeases(connection: MongodbConnection): Leases {
  const leasesOf = (db: Db): Collection<LeaseDocument> => db.collection<LeaseDocument>("leases");
  return {
    hold: (name, holder, ttlMs) =>
      connection.run(async (db) => {
        const { localTime } = (await db.command({ hello: 1 })) as { localTime: Date };
        const lease = { holder, expiresAt: new Date(localTime.getTime() + ttlMs) };
        const isFree = { _id: name, $or: [{ holder }, { expiresAt: { $lte: localTime } }] };
        const { matchedCount } = await leasesOf(db).updateOne(isFree, { $set: lease });
        return matchedCount === 1 || (await isInserted(leasesOf(db), { _id: name, ...lease }));
      }),
    release: (name, holder) =>
      connection.run(async (db) => void (await leasesOf(db).deleteOne({ _id: name, holder }))),
  };
}

/** False when the name has a lease, another's. */
async function isInserted(leases: Collection<LeaseDocument>, lease: LeaseDocument): Promise<boolean> {
  try {
    await leases.insertOne(lease);
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}
