// The delivery queue on MongoDB: guarded single-document updates, without transactions or aggregation pipelines.
import type { Collection, Document, Filter, UpdateFilter } from "mongodb";
import { isDuplicateKey, type MongodbConnection } from "../../stores/connections/mongodb.ts";
import {
  deliveryFrom,
  insertMissing,
  LISTED,
  type StoredDelivery,
  WITHOUT_LOG,
} from "./documents.mongodb.ts";
import {
  type Attempt,
  afterAttempt,
  type ClaimedDelivery,
  type ClaimRequest,
  DELIVERY_STATES,
  type Delivery,
  type DeliveryClaim,
  type DeliveryOutcome,
  type DeliveryQuery,
  type DeliveryQueue,
  type DeliveryWithBody,
  type DeliveryWithLog,
  type FailureStreak,
  type NewDelivery,
  type QueueStats,
  type RoutedPlace,
} from "./queue.ts";

/** In the collection of the deliveries, the first one by insertion and by id: whoever copies the collection reads it first. */
type StoredPlace = { _id: string; place: string | null };

const PLACE_ID = "!routed";

type StoredStreak = { _id: string; since: string; lastAt: string; attempts: number };

/** Idempotent, also when several processes call it concurrently. @throws StoreUnavailable */
export async function prepareDeliveries(connection: MongodbConnection): Promise<void> {
  await connection.run(async (db) => {
    const deliveries = db.collection<StoredDelivery>("deliveries");
    for (const fields of [
      ["state", "webhookId", "dueAt"],
      ["state", "dueAt"],
      ["finishedAt"],
      ["webhookId", "createdAt", "_id"],
      ["webhookId", "state", "createdAt", "_id"],
      ["webhookId", "event", "state", "createdAt", "_id"],
    ]) {
      await deliveries.createIndex(Object.fromEntries(fields.map((field) => [field, 1])));
    }
    await db.collection<StoredStreak>("webhook_failure_streaks").createIndex({ attempts: 1 });
    const first = { $setOnInsert: { place: null } };
    const places = db.collection<StoredPlace>("deliveries");
    await places.updateOne({ _id: PLACE_ID }, first, { upsert: true }).catch((error: unknown) => {
      // Another process was first; of two upserts at once not every server has one take the other's for its own.
      if (!isDuplicateKey(error)) throw error;
    });
  });
}

/** Also works, more slowly, before `prepareDeliveries` has created its indexes. */
export class MongodbDeliveryQueue implements DeliveryQueue {
  readonly #connection: MongodbConnection;

  constructor(connection: MongodbConnection) {
    this.#connection = connection;
  }

  async routed(): Promise<RoutedPlace | undefined> {
    const stored = await this.#onPlace((places) => places.findOne({ _id: PLACE_ID }));
    return stored?.place ? JSON.parse(stored.place) : undefined;
  }

  async noteRouted(place: RoutedPlace): Promise<void> {
    const update = { $set: { place: JSON.stringify(place) } };
    await this.#onPlace((places) => places.updateOne({ _id: PLACE_ID }, update, { upsert: true }));
  }

  async enqueue(deliveries: readonly NewDelivery[], now: string): Promise<number> {
    return await this.#on((all) => insertMissing(all, deliveries, now));
  }

  async dueWebhooks(now: string, except: readonly string[]): Promise<string[]> {
    return await this.#on((all) => all.distinct("webhookId", dueAt(now, except)));
  }

  async claim({ webhookId, token, now, until, limit }: ClaimRequest): Promise<ClaimedDelivery[]> {
    if (limit <= 0) return [];
    const due: Filter<StoredDelivery> = { state: "pending", webhookId, dueAt: { $lte: now } };
    const candidates = await this.#on((all) => all.find(due).sort({ dueAt: 1 }).limit(limit).toArray());
    if (candidates.length === 0) return [];
    // Another worker may have claimed some of them: ours are those that carry our token after the update.
    const stillDue: Filter<StoredDelivery> = { ...due, _id: { $in: candidates.map(({ _id }) => _id) } };
    await this.#on((all) => all.updateMany(stillDue, { $set: { claim: token, dueAt: until } }));
    const ours = await this.#on((all) =>
      all
        .find({ _id: { $in: candidates.map(({ _id }) => _id) }, claim: token })
        .project<{ _id: string }>({ _id: 1 })
        .toArray(),
    );
    const ids = new Set(ours.map(({ _id }) => _id));
    return candidates
      .filter(({ _id }) => ids.has(_id))
      .map(({ _id, eventId, event, tries, body, dueAt }) => ({
        id: _id,
        webhookId,
        eventId,
        event,
        tries,
        body,
        token,
        wasDueAt: dueAt ?? now,
      }));
  }

  async settle(claim: DeliveryClaim, attempt: Attempt, outcome: DeliveryOutcome): Promise<boolean> {
    const { answer: _, ...lastAttempt } = attempt;
    return await this.#ifClaimed(claim, {
      $set: { ...afterAttempt(attempt, outcome), lastAttempt, claim: null },
      $inc: { tries: 1 },
      $push: { log: attempt },
    });
  }

  async defer(claim: DeliveryClaim, dueAt: string): Promise<boolean> {
    return await this.#ifClaimed(claim, { $set: { dueAt, claim: null } });
  }

  async resend(id: string, now: string): Promise<Delivery | undefined> {
    const claimed = { state: "pending", claim: { $ne: null }, dueAt: { $gt: now } } as const;
    await this.#on((all) => all.updateOne({ _id: id, $nor: [claimed] }, again(now)));
    const document = await this.#on((all) => all.findOne({ _id: id }, { projection: LISTED }));
    return document ? deliveryFrom(document) : undefined;
  }

  async recover(webhookId: string, since: string, now: string): Promise<number> {
    const failed: Filter<StoredDelivery> = { webhookId, state: "failed", finishedAt: { $gte: since } };
    return (await this.#on((all) => all.updateMany(failed, again(now)))).modifiedCount;
  }

  async cancel(webhookId: string, now: string): Promise<number> {
    const end = { $set: { state: "cancelled", dueAt: null, finishedAt: now, claim: null } } as const;
    return (await this.#on((all) => all.updateMany({ webhookId, state: "pending" }, end))).modifiedCount;
  }

  async list({ webhookId, state, event, after, limit }: DeliveryQuery): Promise<DeliveryWithBody[]> {
    if (limit <= 0) return [];
    const filter: Filter<StoredDelivery> = { webhookId };
    if (state) filter.state = state;
    if (event !== undefined) {
      filter.event = event;
      // Merged in the order of the index, which has the states apart.
      filter.state ??= { $in: [...DELIVERY_STATES] };
    }
    if (after)
      filter.$or = [
        { createdAt: { $lt: after.createdAt } },
        { createdAt: after.createdAt, _id: { $lt: after.id } },
      ];
    const documents = await this.#on((all) =>
      all
        .find(filter, { projection: WITHOUT_LOG })
        .sort([
          ["createdAt", -1],
          ["_id", -1],
        ])
        .limit(limit)
        .toArray(),
    );
    return documents.map((document) => ({ ...deliveryFrom(document), body: document.body }));
  }

  async get(id: string): Promise<DeliveryWithLog | undefined> {
    const document = await this.#on((all) => all.findOne({ _id: id }));
    return document ? { ...deliveryFrom(document), body: document.body, log: document.log } : undefined;
  }

  async sweep(before: string): Promise<number> {
    const finished = await this.#on((all) => all.deleteMany({ finishedAt: { $lt: before, $ne: null } }));
    const waiting = await this.#on((all) => all.deleteMany({ state: "pending", dueAt: { $lt: before } }));
    return finished.deletedCount + waiting.deletedCount;
  }

  async noteFailure(webhookId: string, at: string, notBefore: string): Promise<FailureStreak> {
    return await this.#onStreaks(async (streaks) => {
      await streaks.deleteOne({ _id: webhookId, since: { $lt: notBefore } });
      const update = { $inc: { attempts: 1 }, $set: { lastAt: at }, $setOnInsert: { since: at } };
      const options = { upsert: true, returnDocument: "after" } as const;
      const streak = await streaks.findOneAndUpdate({ _id: webhookId }, update, options);
      return { since: streak?.since ?? at, lastAt: at, attempts: streak?.attempts ?? 1 };
    });
  }

  async streaks(attempts: number, webhookIds?: readonly string[]) {
    const among: Filter<StoredStreak> = webhookIds ? { _id: { $in: [...webhookIds] } } : {};
    const failing = await this.#onStreaks((streaks) =>
      streaks.find({ ...among, attempts: { $gte: attempts } }).toArray(),
    );
    return failing.map(({ _id: webhookId, ...streak }) => ({ webhookId, ...streak }));
  }

  async endStreak(webhookId: string): Promise<void> {
    await this.#onStreaks((streaks) => streaks.deleteOne({ _id: webhookId }));
  }

  async stats(now: string, except: readonly string[]): Promise<QueueStats> {
    const due = dueAt(now, except);
    const [pending, dueNow, oldest] = await Promise.all([
      this.#on((all) => all.countDocuments({ state: "pending" })),
      this.#on((all) => all.countDocuments(due)),
      this.#on((all) => all.find(due, { projection: LISTED }).sort({ dueAt: 1 }).limit(1).toArray()),
    ]);
    return { pending, due: dueNow, oldestDueAt: oldest[0]?.dueAt ?? null };
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #ifClaimed({ id, token }: DeliveryClaim, update: UpdateFilter<StoredDelivery>): Promise<boolean> {
    const ours: Filter<StoredDelivery> = { _id: id, claim: token, state: "pending" };
    return (await this.#on((all) => all.updateOne(ours, update))).matchedCount === 1;
  }

  #on<T>(work: (deliveries: Collection<StoredDelivery>) => Promise<T>): Promise<T> {
    return this.#connection.run((db) => work(db.collection<StoredDelivery>("deliveries")));
  }

  #onPlace<T>(work: (places: Collection<StoredPlace>) => Promise<T>): Promise<T> {
    return this.#connection.run((db) => work(db.collection<StoredPlace>("deliveries")));
  }

  #onStreaks<T>(work: (streaks: Collection<StoredStreak>) => Promise<T>): Promise<T> {
    return this.#connection.run((db) => work(db.collection<StoredStreak>("webhook_failure_streaks")));
  }
}

function dueAt(now: string, except: readonly string[]): Filter<StoredDelivery> {
  const due: Filter<StoredDelivery> = { state: "pending", dueAt: { $lte: now } };
  return except.length > 0 ? { ...due, webhookId: { $nin: [...except] } } : due;
}

function again(now: string): UpdateFilter<StoredDelivery> {
  const fresh: Document = { state: "pending", dueAt: now, finishedAt: null, tries: 0, claim: null };
  return { $set: fresh };
}
