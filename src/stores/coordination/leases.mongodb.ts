// Leases on MongoDB: one document per lease with holder and expiry, taken by a guarded update. What is asked for at the same
// moment is asked of the server at once: a process that holds its leases costs one command each time it renews them.
import type { Collection } from "mongodb";
import { isDuplicateKey, type MongodbConnection } from "../connections/mongodb.ts";
import type { Leases } from "./leases.ts";

/** `expiresAt`: by the server's clock, so that clock skew between processes does not matter. */
type LeaseDocument = { _id: string; holder: string; expiresAt: Date };
type Request = { name: string; holder: string; ttlMs: number };
type Asked = Request & PromiseWithResolvers<boolean>;

/** For others to ask at the same moment (hold-lease.ts). */
const GATHERED_MS = 10;
/** An answer that took longer tells the time of that moment only. */
const EXACT_MS = 200;
/** How long the server's clock is told by our own, which runs as fast. */
const CLOCK_READ_EVERY_MS = 60_000;

/** Methods throw StoreUnavailable. `now`: milliseconds that never go back. */
export function mongodbLeases(connection: MongodbConnection, now: () => number): Leases {
  const clock = serverClock(connection, now);
  const run = <T>(work: (leases: Collection<LeaseDocument>) => Promise<T>): Promise<T> =>
    connection.run((db) => work(db.collection<LeaseDocument>("leases")));
  let gathered: Asked[] = [];

  /** Of one holder and for one time: whether each is still held. */
  async function renewed(requests: readonly Request[], at: Date): Promise<boolean> {
    const [{ holder, ttlMs } = { holder: "", ttlMs: 0 }] = requests;
    const ours = { _id: { $in: requests.map(({ name }) => name) }, holder };
    const until = { $set: { expiresAt: new Date(at.getTime() + ttlMs) } };
    return (await run((leases) => leases.updateMany(ours, until))).matchedCount === requests.length;
  }

  /** By their names; of those that nobody has had there is none. */
  async function stored(requests: readonly Request[]): Promise<Map<string, LeaseDocument>> {
    const named = { _id: { $in: requests.map(({ name }) => name) } };
    const documents = await run((leases) => leases.find(named).toArray());
    return new Map(documents.map((lease) => [lease._id, lease]));
  }

  /** If nothing matched, an insert follows: where somebody holds the lease, its `_id` is there. */
  async function acquired({ name, holder, ttlMs }: Request, at: Date): Promise<boolean> {
    const lease = { holder, expiresAt: new Date(at.getTime() + ttlMs) };
    const isFree = { _id: name, $or: [{ holder }, { expiresAt: { $lte: at } }] };
    return await run(async (leases) => {
      const { matchedCount } = await leases.updateOne(isFree, { $set: lease });
      if (matchedCount === 1) return true;
      try {
        await leases.insertOne({ _id: name, ...lease });
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    });
  }

  async function answer(requests: readonly Asked[]): Promise<void> {
    const at = await clock();
    const alike = Object.groupBy(requests, ({ holder, ttlMs }) => `${holder} ${ttlMs}`);
    for (const group of Object.values(alike)) {
      if (!group) continue;
      const areRenewed = await renewed(group, at);
      const leases = areRenewed ? new Map<string, LeaseDocument>() : await stored(group);
      for (const request of group) {
        const lease = leases.get(request.name);
        const isHeld = areRenewed || lease?.holder === request.holder;
        const isFree = !lease || lease.expiresAt <= at;
        request.resolve(isHeld || (isFree && (await acquired(request, at))));
      }
    }
  }

  return {
    hold(name, holder, ttlMs) {
      const request = { name, holder, ttlMs, ...Promise.withResolvers<boolean>() };
      if (gathered.push(request) === 1)
        setTimeout(() => {
          const requests = gathered;
          gathered = [];
          answer(requests).catch((error: unknown) => {
            for (const { reject } of requests) reject(error);
          });
        }, GATHERED_MS);
      return request.promise;
    },
    async release(name, holder) {
      await run((leases) => leases.deleteOne({ _id: name, holder }));
    },
  };
}

/**
 * The server's time, asked for once a minute, as compatible servers do not support `$$NOW` in updates; the answer's way only
 * shortens a lease. This process's own time where a compatible server doesn't tell it.
 */
function serverClock(connection: MongodbConnection, now: () => number): () => Promise<Date> {
  let offset = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (now() - readAt >= CLOCK_READ_EVERY_MS) {
      const askedAt = now();
      const hello = (await connection.run((db) => db.command({ hello: 1 }))) as { localTime?: Date };
      const answeredAt = now();
      offset = (hello.localTime ?? new Date()).getTime() - answeredAt;
      if (answeredAt - askedAt < EXACT_MS) readAt = answeredAt;
    }
    return new Date(now() + offset);
  };
}
