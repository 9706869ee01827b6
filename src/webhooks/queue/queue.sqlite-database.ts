// The delivery queue's file: prepared statements, and as few commits as the work allows.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { QUEUE_SCHEMA, STATEMENTS } from "./queue.sqlite-statements.ts";

export type StatementName = keyof typeof STATEMENTS;
export type Values = Record<string, SQLInputValue>;

type Waiting = { work: () => unknown; done: (result: unknown) => void; failed: (error: unknown) => void };

export class QueueDatabase {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<StatementName, StatementSync>();
  #waiting: Waiting[] = [];

  constructor(file: string) {
    mkdirSync(dirname(file), { recursive: true });
    this.#db = new DatabaseSync(file, { timeout: 10_000 });
    this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
    // Fewer, larger checkpoints: a delivery's rows are written three times within seconds.
    this.#db.exec("PRAGMA wal_autocheckpoint = 8000; PRAGMA journal_size_limit = 67108864");
    this.#db.exec(`BEGIN IMMEDIATE; ${QUEUE_SCHEMA} COMMIT`);
  }

  /**
   * Everything that is asked for until the event loop comes round again, in one commit. That is not flushed to the
   * disk: a try that is forgotten with the power is made again.
   */
  soon<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#commitWaiting());
      this.#waiting.push({ work, done: (result) => resolve(result as T), failed: reject });
    });
  }

  /** In a commit of its own that is flushed before it answers. */
  onDisk<T>(work: () => T): T {
    this.#db.exec("PRAGMA synchronous = FULL");
    try {
      return this.#transaction(work);
    } finally {
      this.#db.exec("PRAGMA synchronous = NORMAL");
    }
  }

  /** How many rows it changed. */
  run(name: StatementName, values: Values): number {
    return Number(this.#statement(name).run(values).changes);
  }

  get<T>(name: StatementName, values: Values): T | undefined {
    return this.#statement(name).get(values) as T | undefined;
  }

  all<T>(name: StatementName, values: Values): T[] {
    return this.#statement(name).all(values) as T[];
  }

  close(): void {
    if (!this.#db.isOpen) return;
    this.#commitWaiting();
    this.#statements.clear();
    this.#db.close();
  }

  #commitWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    try {
      const results = this.#transaction(() => waiting.map(({ work }) => work()));
      for (const [n, { done }] of waiting.entries()) done(results[n]);
    } catch (error) {
      for (const { failed } of waiting) failed(error);
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

  #statement(name: StatementName): StatementSync {
    let statement = this.#statements.get(name);
    if (!statement) {
      statement = this.#db.prepare(STATEMENTS[name]);
      this.#statements.set(name, statement);
    }
    return statement;
  }
}
