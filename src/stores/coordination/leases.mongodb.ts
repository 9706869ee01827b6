// Leases on MongoDB: one document per lease with holder and expiry, taken by a guarded update.
import type { Collection, Db } from "mongodb";
import { isDuplicateKey, type MongodbConnection } from "../connections/mongodb.ts";
import type { Leases } from "./leases.ts";

/**
 * `expiresAt`: by the server's clock, so that clock skew between processes does not matter; by this process's where a
 * compatible server doesn't tell the time.
 */
type LeaseDocument = { _id: string; holder: string; expiresAt: Date };

/**
 * The server's time is read first and sent back, because compatible servers do not support `$$NOW` in updates; the
 * round trip only shortens a lease. If nothing matched, a plain insert follows instead of an upsert, because such
 * servers upsert a guarded update without its `_id`. On a server whose guarded updates are not atomic there may be two
 * holders until the first renewal. Methods throw StoreUnavailable.
 */
export function mongodbLeases(connection: MongodbConnection): Leases {
  const leasesOf = (db: Db): Collection<LeaseDocument> => db.collection<LeaseDocument>("leases");
  return {
    hold: (name, holder, ttlMs) =>
      connection.run(async (db) => {
        const { localTime = new Date() } = (await db.command({ hello: 1 })) as { localTime?: Date };
        const lease = { holder, expiresAt: new Date(localTime.getTime() + ttlMs) };
        const isFree = { _id: name, $or: [{ holder }, { expiresAt: { $lte: localTime } }] };
        const { matchedCount } = await leasesOf(db).updateOne(isFree, { $set: lease });
        return matchedCount === 1 || (await isInserted(leasesOf(db), { _id: name, ...lease }));
      }),
    release: (name, holder) =>
      connection.run(async (db) => void (await leasesOf(db).deleteOne({ _id: name, holder }))),
  };
}

/** False when another holder has the lease. */
async function isInserted(leases: Collection<LeaseDocument>, lease: LeaseDocument): Promise<boolean> {
  try {
    await leases.insertOne(lease);
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}
