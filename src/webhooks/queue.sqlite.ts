// The delivery queue of the embedded default: one SQLite file that several processes may work on at once.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import {
  type AttemptRow,
  attemptOf,
  type ClaimedRow,
  type DeliveryRow,
  deliveryOf,
} from "./queue.sqlite-rows.ts";
import { QUEUE_SCHEMA, STATEMENTS } from "./queue.sqlite-statements.ts";
import {
  type Attempt,
  type ClaimedDelivery,
  type ClaimRequest,
  type Delivery,
  type DeliveryQuery,
  type DeliveryQueue,
  type DeliveryWithLog,
  deliveryId,
  type FailureStreak,
  type NewDelivery,
  type Outcome,
  type QueueStats,
} from "./queue.ts";

/** Opens (and makes) the file. Every call is synchronous inside: not for the HTTP thread's hot path. */
export async function openSqliteDeliveryQueue(file: string): Promise<DeliveryQueue> {
  mkdirSync(dirname(file), { recursive: true });
  const db = new DatabaseSync(file, { timeout: 10_000 });
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
  db.exec(`BEGIN IMMEDIATE; ${QUEUE_SCHEMA} COMMIT`);
  return new SqliteDeliveryQueue(db);
}

type StatementName = keyof typeof STATEMENTS;

class SqliteDeliveryQueue implements DeliveryQueue {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<StatementName, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  async enqueue(deliveries: readonly NewDelivery[], now: string): Promise<number> {
    if (deliveries.length === 0) return 0;
    return this.#onDisk(() => {
      let added = 0;
      for (const { webhookId, eventId, event, body } of deliveries) {
        const id = deliveryId(webhookId, eventId);
        added += this.#run("insert", { id, webhookId, eventId, event, body, now });
      }
      return added;
    });
  }

  async dueWebhooks(now: string): Promise<string[]> {
    return this.#all<{ webhook_id: string }>("dueWebhooks", { now }).map((row) => row.webhook_id);
  }

  async claim(request: ClaimRequest): Promise<ClaimedDelivery[]> {
    const { webhookId, token, now, until, limit } = request;
    return this.#transaction(() => {
      const due = this.#all<ClaimedRow>("due", { webhookId, now, limit });
      for (const { id } of due) this.#run("take", { id, token, until });
      return due.map((row) => ({
        id: row.id,
        webhookId: row.webhook_id,
        eventId: row.event_id,
        event: row.event,
        createdAt: row.created_at,
        tries: row.tries,
        body: row.body,
        wasDueAt: row.due_at,
        token,
      }));
    });
  }

  async settle(
    { id, token }: Pick<ClaimedDelivery, "id" | "token">,
    attempt: Attempt,
    outcome: Outcome,
  ): Promise<boolean> {
    const { answer, ...last } = attempt;
    const finished = outcome.state !== "pending";
    const finishedAt = finished ? endOf(attempt) : null;
    const dueAt = finished ? null : outcome.dueAt;
    return this.#transaction(() => {
      const settled = this.#run("settle", {
        ...{ id, token, dueAt, finishedAt, state: outcome.state, last: JSON.stringify(last) },
      });
      if (settled === 1) this.#run("log", { id, answer, attempt: JSON.stringify(last) });
      return settled === 1;
    });
  }

  async defer({ id, token }: Pick<ClaimedDelivery, "id" | "token">, dueAt: string): Promise<boolean> {
    return this.#run("defer", { id, token, dueAt }) === 1;
  }

  async resend(id: string, now: string): Promise<Delivery | undefined> {
    return this.#onDisk(() => {
      this.#run("resend", { id, now });
      const row = this.#get<DeliveryRow>("one", { id });
      return row && deliveryOf(row);
    });
  }

  async recover(webhookId: string, since: string, now: string): Promise<number> {
    return this.#onDisk(() => this.#run("recover", { webhookId, since, now }));
  }

  async cancel(webhookId: string, now: string): Promise<number> {
    return this.#run("cancel", { webhookId, now });
  }

  async list({ webhookId, state, after, limit }: DeliveryQuery): Promise<Delivery[]> {
    const page = { webhookId, limit, afterAt: after?.createdAt ?? "~", afterId: after?.id ?? "" };
    const rows = state
      ? this.#all<DeliveryRow>("listOfState", { ...page, state })
      : this.#all<DeliveryRow>("list", page);
    return rows.map(deliveryOf);
  }

  async get(id: string): Promise<DeliveryWithLog | undefined> {
    const row = this.#get<DeliveryRow & { body: string }>("one", { id });
    if (!row) return undefined;
    const log = this.#all<AttemptRow>("attempts", { id }).map(attemptOf);
    return { ...deliveryOf(row), body: row.body, log };
  }

  async sweep(before: string): Promise<number> {
    return this.#transaction(
      () => this.#run("sweepFinished", { before }) + this.#run("sweepWaiting", { before }),
    );
  }

  async noteFailure(webhookId: string, at: string): Promise<FailureStreak> {
    return this.#get<FailureStreak>("noteFailure", { webhookId, at }) ?? { since: at, attempts: 1 };
  }

  async endStreak(webhookId: string): Promise<void> {
    this.#run("endStreak", { webhookId });
  }

  async stats(now: string, except: readonly string[]): Promise<QueueStats> {
    const row = this.#get<{ pending: number; due: number; oldest: string | null }>("stats", {
      ...{ now, except: JSON.stringify(except) },
    });
    return { pending: row?.pending ?? 0, due: row?.due ?? 0, oldestDueAt: row?.oldest ?? null };
  }

  async close(): Promise<void> {
    if (!this.#db.isOpen) return;
    this.#statements.clear();
    this.#db.close();
  }

  /** Flushed before it answers, as the router's checkpoint relies on it; a settled try may be lost with the power. */
  #onDisk<T>(work: () => T): T {
    this.#db.exec("PRAGMA synchronous = FULL");
    try {
      return this.#transaction(work);
    } finally {
      this.#db.exec("PRAGMA synchronous = NORMAL");
    }
  }

  #transaction<T>(work: () => T): T {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  #run(name: StatementName, values: Record<string, SQLInputValue>): number {
    return Number(this.#statement(name).run(values).changes);
  }

  #get<T>(name: StatementName, values: Record<string, SQLInputValue>): T | undefined {
    return this.#statement(name).get(values) as T | undefined;
  }

  #all<T>(name: StatementName, values: Record<string, SQLInputValue>): T[] {
    return this.#statement(name).all(values) as T[];
  }

  #statement(name: StatementName): StatementSync {
    let statement = this.#statements.get(name);
    if (!statement) {
      statement = this.#db.prepare(STATEMENTS[name]);
      this.#statements.set(name, statement);
    }
    return statement;
  }
}

function endOf({ at, durationMs }: Attempt): string {
  return new Date(Date.parse(at) + durationMs).toISOString();
}
