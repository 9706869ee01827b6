// Leases on MongoDB: each holder's turn is a document whose `_id` only one can insert; ends are judged by watching.
import type { Collection } from "mongodb";
import { isDuplicateKey, type MongodbConnection } from "../mongodb/connection.ts";
import type { Lease, Leases } from "./leases.ts";

/** `beat` rises with every renewal; `ttlMs` counts from it. The last turn of a name stays, so that tokens only rise. */
type Turn = {
  _id: string;
  name: string;
  holder: string;
  token: number;
  beat: number;
  ttlMs: number;
  state: "held" | "free";
};

/** A sign of life of another's turn, and when it was first seen here. */
type Seen = { token: number; beat: number; at: number };

/**
 * Machines' clocks differ, so no time is stored: a lease has ended when its beat has stood still for its `ttlMs`
 * under the eyes of who wants it. A standby that asks all the time takes over after that time; who has just started
 * waits that long once. Unique inserts, because compatible servers may let two guarded updates win. `clock` in
 * milliseconds, never set back. Methods throw StoreUnavailable.
 */
export function mongodbLeases(connection: MongodbConnection, clock: () => number): Leases {
  const seen = new Map<string, Seen>();
  /** When each lease of this process ends, counted from before its renewal was sent. */
  const ends = new Map<string, { token: number; at: number }>();
  const on = <T>(work: (turns: Collection<Turn>) => Promise<T>) =>
    connection.run((db) => work(db.collection<Turn>("leases")));
  const latestTurn = (name: string) =>
    on((turns) => turns.find({ name }).sort({ token: -1 }).limit(1).next());

  const isMine = ({ name, token }: Lease) => {
    const end = ends.get(name);
    return end?.token === token && clock() < end.at;
  };
  const hasEnded = ({ name, token, beat, ttlMs, state }: Turn): boolean => {
    if (state === "free") return true;
    const known = seen.get(name);
    if (known?.token === token && known.beat === beat) return clock() - known.at >= ttlMs;
    seen.set(name, { token, beat, at: clock() });
    return false;
  };

  return {
    async acquire(name, holder, ttlMs) {
      const sentAt = clock();
      const latest = await latestTurn(name);
      if (latest && !hasEnded(latest)) return undefined;
      const token = (latest?.token ?? 0) + 1;
      const turn: Turn = { _id: `${name} ${token}`, name, holder, token, beat: 0, ttlMs, state: "held" };
      if (!(await on((turns) => insert(turns, turn)))) return undefined;
      // Who was very slow may have inserted a turn that was taken, ended and cleared away before.
      if ((await latestTurn(name))?.token !== token) {
        await on((turns) => turns.deleteOne({ _id: turn._id }));
        return undefined;
      }
      await on((turns) => turns.deleteMany({ name, token: { $lt: token } }));
      ends.set(name, { token, at: sentAt + ttlMs });
      return { name, holder, token };
    },

    async renew(lease, ttlMs) {
      if (!isMine(lease)) return false;
      const { name, holder, token } = lease;
      const sentAt = clock();
      const held = { _id: `${name} ${token}`, holder, state: "held" as const };
      const { matchedCount } = await on((turns) =>
        turns.updateOne(held, { $inc: { beat: 1 }, $set: { ttlMs } }),
      );
      if (matchedCount === 0) ends.delete(name);
      else ends.set(name, { token, at: sentAt + ttlMs });
      return matchedCount === 1;
    },

    async release({ name, holder, token }) {
      if (ends.get(name)?.token === token) ends.delete(name);
      await on((turns) => turns.updateOne({ _id: `${name} ${token}`, holder }, { $set: { state: "free" } }));
    },
  };
}

/** False when another was first. */
async function insert(turns: Collection<Turn>, turn: Turn): Promise<boolean> {
  try {
    await turns.insertOne(turn);
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}
