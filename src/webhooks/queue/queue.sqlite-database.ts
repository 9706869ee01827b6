// The delivery queue's SQLite file: prepared statements, and group commit of small writes.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { QUEUE_SCHEMA, STATEMENTS } from "./queue.sqlite-statements.ts";

export type StatementName = keyof typeof STATEMENTS;
export type Values = Record<string, SQLInputValue>;

type Waiting = { work: () => unknown; resolve: (result: unknown) => void; reject: (error: unknown) => void };

export class QueueDatabase {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<StatementName, StatementSync>();
  #waiting: Waiting[] = [];

  constructor(file: string) {
    mkdirSync(dirname(file), { recursive: true });
    this.#db = new DatabaseSync(file, { timeout: 10_000 });
    this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
    // Fewer, larger WAL checkpoints, because a delivery's rows are written three times within seconds.
    this.#db.exec("PRAGMA wal_autocheckpoint = 8000; PRAGMA journal_size_limit = 67108864");
    this.#db.exec(`BEGIN IMMEDIATE; ${QUEUE_SCHEMA} COMMIT`);
  }

  /**
   * Group commit: all work of one turn of the event loop is one transaction. It is not fsynced, because an attempt
   * whose record is lost in a power failure is only made again.
   */
  soon<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#commitWaiting());
      this.#waiting.push({ work, resolve: (result) => resolve(result as T), reject });
    });
  }

  /** A transaction of its own, fsynced before it returns. */
  onDisk<T>(work: () => T): T {
    this.#db.exec("PRAGMA synchronous = FULL");
    try {
      return this.#transaction(work);
    } finally {
      this.#db.exec("PRAGMA synchronous = NORMAL");
    }
  }

  /** Returns the number of changed rows. */
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
      for (const [n, { resolve }] of waiting.entries()) resolve(results[n]);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
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
