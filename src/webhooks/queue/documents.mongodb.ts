// A delivery as one MongoDB document with its attempts, so that settling an attempt is one guarded update.
import { type Collection, MongoBulkWriteError } from "mongodb";
import { isDuplicateKey } from "../../stores/connections/mongodb.ts";
import { type Attempt, type Delivery, deliveryId, type NewDelivery } from "./queue.ts";

/** `claim`: the token of its worker. The claim ends at `dueAt`, so that a crashed worker's claim expires. */
export type StoredDelivery = Omit<Delivery, "id"> & {
  _id: string;
  body: string;
  claim: string | null;
  log: Attempt[];
};

/** Projections: without answers, which are large, and without the body, too. */
export const WITHOUT_LOG = { log: 0 } as const;
export const LISTED = { body: 0, log: 0 } as const;

export function deliveryFrom(document: Omit<StoredDelivery, "body" | "log">): Delivery {
  const { _id, webhookId, eventId, event, state, createdAt, dueAt, finishedAt, tries, lastAttempt } =
    document;
  return { id: _id, webhookId, eventId, event, state, createdAt, dueAt, finishedAt, tries, lastAttempt };
}

/** Each once: the unique `_id` refuses those that are queued. Returns how many were new. */
export async function insertMissing(
  all: Collection<StoredDelivery>,
  deliveries: readonly NewDelivery[],
  now: string,
): Promise<number> {
  const byId = new Map(deliveries.map((delivery) => [idOf(delivery), stored(delivery, now)]));
  let missing = [...byId.values()];
  let added = 0;
  while (missing.length > 0)
    try {
      return added + (await all.insertMany(missing, { ordered: false })).insertedCount;
    } catch (error) {
      if (!(error instanceof MongoBulkWriteError) || !isDuplicateKey(error)) throw error;
      added += error.result.insertedCount;
      const ids = { _id: { $in: missing.map(({ _id }) => _id) } };
      const queued = new Set(await all.distinct("_id", ids));
      missing = missing.filter(({ _id }) => !queued.has(_id));
    }
  return added;
}

function idOf({ webhookId, eventId }: NewDelivery): string {
  return deliveryId(webhookId, eventId);
}

function stored(delivery: NewDelivery, now: string): StoredDelivery {
  const { webhookId, eventId, event, body } = delivery;
  const waiting = { state: "pending" as const, createdAt: now, dueAt: now, finishedAt: null };
  return {
    _id: idOf(delivery),
    ...{ webhookId, eventId, event, body },
    ...waiting,
    tries: 0,
    claim: null,
    lastAttempt: null,
    log: [],
  };
}
