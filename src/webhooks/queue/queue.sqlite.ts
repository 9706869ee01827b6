// The delivery queue of the embedded default: one SQLite file that several processes can use concurrently.

import type { Calls } from "../../runtime/threads/calls.ts";
import { remoteMethods } from "../../runtime/threads/remote.ts";
import { unavailableOnError } from "../../stores/connections/sqlite.ts";
import { QueueDatabase } from "./database.sqlite.ts";
import {
  type Attempt,
  afterAttempt,
  type ClaimedDelivery,
  type ClaimRequest,
  type Delivery,
  type DeliveryClaim,
  type DeliveryOutcome,
  type DeliveryQuery,
  type DeliveryQueue,
  type DeliveryWithBody,
  type DeliveryWithLog,
  deliveryId,
  type FailureStreak,
  type NewDelivery,
  type QueueStats,
  type RoutedPlace,
} from "./queue.ts";

const METHODS = [
  "noteRouted",
  ...(["enqueue", "dueWebhooks", "claim", "settle", "defer", "resend", "recover", "cancel", "list"] as const),
  ...(["get", "sweep", "noteFailure", "streaks", "endStreak", "stats"] as const),
] as const;

/** Opens the file, and creates it when missing. `readOnly`: nothing in its folder changes. @throws StoreUnavailable, StoreFailed */
export async function openSqliteDeliveryQueue(
  file: string,
  { readOnly = false } = {},
): Promise<DeliveryQueue> {
  return unavailableOnError(() => new SqliteDeliveryQueue(new QueueDatabase(file, { readOnly })), file);
}

/**
 * The one that another thread serves under the name `queue`. `here`: the same file in the caller's thread, for what each look
 * at readiness asks, which is no reason to start the other one.
 */
export function remoteDeliveryQueue(
  thread: Pick<Calls, "call">,
  here: () => Promise<DeliveryQueue>,
): DeliveryQueue {
  const methods = remoteMethods<DeliveryQueue, (typeof METHODS)[number]>(thread, "queue", METHODS);
  return { ...methods, routed: async () => (await here()).routed(), close: async () => undefined };
}

/** `last`: JSON of the last attempt without its answer. */
type DeliveryRow = Omit<DeliveryWithBody, "lastAttempt"> & { last: string | null };

const SWEEP_BATCH = 500;

class SqliteDeliveryQueue implements DeliveryQueue {
  readonly #db: QueueDatabase;

  constructor(db: QueueDatabase) {
    this.#db = db;
  }

  async routed(): Promise<RoutedPlace | undefined> {
    const row = this.#db.get<{ place: string }>("routed", {});
    return row && JSON.parse(row.place);
  }

  async noteRouted(place: RoutedPlace): Promise<void> {
    await this.#db.soon(() => this.#db.run("noteRouted", { place: JSON.stringify(place) }));
  }

  async enqueue(deliveries: readonly NewDelivery[], now: string): Promise<number> {
    if (deliveries.length === 0) return 0;
    return this.#db.onDisk(() => {
      let added = 0;
      for (const { webhookId, eventId, event, body } of deliveries) {
        const id = deliveryId(webhookId, eventId);
        added += this.#db.run("insert", { id, webhookId, eventId, event, body, now });
      }
      return added;
    });
  }

  async dueWebhooks(now: string, except: readonly string[]): Promise<string[]> {
    const rows = this.#db.all<{ webhook_id: string }>("dueWebhooks", { now, except: JSON.stringify(except) });
    return rows.map((row) => row.webhook_id);
  }

  async claim({ webhookId, token, now, until, limit }: ClaimRequest): Promise<ClaimedDelivery[]> {
    return this.#db.soon(() => {
      const due = this.#db.all<Omit<ClaimedDelivery, "token">>("due", { webhookId, now, limit });
      for (const { id } of due) this.#db.run("take", { id, token, until });
      return due.map((delivery) => ({ ...delivery, token }));
    });
  }

  async settle({ id, token }: DeliveryClaim, attempt: Attempt, outcome: DeliveryOutcome): Promise<boolean> {
    const settled = { id, token, attempt: JSON.stringify(attempt), ...afterAttempt(attempt, outcome) };
    return this.#db.soon(() => this.#db.run("settle", settled) === 1);
  }

  async defer({ id, token }: DeliveryClaim, dueAt: string): Promise<boolean> {
    return this.#db.soon(() => this.#db.run("defer", { id, token, dueAt }) === 1);
  }

  async resend(id: string, now: string): Promise<Delivery | undefined> {
    return this.#db.onDisk(() => {
      this.#db.run("resend", { id, now });
      return this.#get(id);
    });
  }

  async recover(webhookId: string, since: string, now: string): Promise<number> {
    return this.#db.onDisk(() => this.#db.run("recover", { webhookId, since, now }));
  }

  async cancel(webhookId: string, now: string): Promise<number> {
    return this.#db.onDisk(() => this.#db.run("cancel", { webhookId, now }));
  }

  async list({ webhookId, state, event, after, limit }: DeliveryQuery): Promise<DeliveryWithBody[]> {
    const page = { webhookId, limit, afterAt: after?.createdAt ?? "~", afterId: after?.id ?? "" };
    const filter = { ...(event !== undefined && { event }), ...(state && { state }) };
    const ofEvent = state ? "listOfEventAndState" : "listOfEvent";
    const name = event === undefined ? (state ? "listOfState" : "list") : ofEvent;
    const rows = this.#db.all<DeliveryRow>(name, { ...page, ...filter });
    return rows.map(({ last, ...row }) => ({ ...row, lastAttempt: last === null ? null : JSON.parse(last) }));
  }

  async get(id: string): Promise<DeliveryWithLog | undefined> {
    return this.#get(id);
  }

  async sweep(before: string): Promise<number> {
    let swept = 0;
    for (const name of ["sweepFinished", "sweepWaiting"] as const) {
      // In small transactions, so that deliveries continue in between.
      for (let deleted = SWEEP_BATCH; deleted === SWEEP_BATCH; swept += deleted)
        deleted = await this.#db.soon(() => this.#db.run(name, { before, limit: SWEEP_BATCH }));
    }
    return swept;
  }

  async noteFailure(webhookId: string, at: string, notBefore: string): Promise<FailureStreak> {
    const note = () => this.#db.get<FailureStreak>("noteFailure", { webhookId, at, notBefore });
    return (await this.#db.soon(note)) ?? { since: at, lastAt: at, attempts: 1 };
  }

  async streaks(attempts: number, webhookIds?: readonly string[]) {
    const among = webhookIds ? JSON.stringify(webhookIds) : null;
    return this.#db.all<FailureStreak & { webhookId: string }>("streaks", { attempts, among });
  }

  async endStreak(webhookId: string): Promise<void> {
    await this.#db.soon(() => this.#db.run("endStreak", { webhookId }));
  }

  async stats(now: string, except: readonly string[]): Promise<QueueStats> {
    const row = this.#db.get<{ pending: number; due: number; oldest: string | null }>("stats", {
      now,
      except: JSON.stringify(except),
    });
    return { pending: row?.pending ?? 0, due: row?.due ?? 0, oldestDueAt: row?.oldest ?? null };
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  #get(id: string): DeliveryWithLog | undefined {
    const delivery = this.#db.get<DeliveryRow & { log: string }>("one", { id });
    if (!delivery) return undefined;
    const { last, log, ...row } = delivery;
    return { ...row, lastAttempt: last === null ? null : JSON.parse(last), log: JSON.parse(log) };
  }
}
