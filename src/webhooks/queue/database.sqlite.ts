// The delivery queue's SQLite file: prepared statements, and group commit of small writes.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import {
  GroupCommit,
  inTransaction,
  openReadOnlyOrEmpty,
  unavailableOnError,
} from "../../stores/connections/sqlite.ts";
import { refuseAltered } from "../../stores/connections/structure.sqlite.ts";
import { QUEUE_SCHEMA, STATEMENTS } from "./statements.sqlite.ts";

export type StatementName = keyof typeof STATEMENTS;
export type Values = Record<string, SQLInputValue>;

function openQueueFile(file: string): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true });
  const db = new DatabaseSync(file, { timeout: 10_000 });
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  // Fewer, larger WAL checkpoints, because a delivery's rows are written three times within seconds.
  db.exec("PRAGMA wal_autocheckpoint = 8000; PRAGMA journal_size_limit = 67108864");
  inTransaction(db, () => db.exec(QUEUE_SCHEMA));
  refuseAltered(db, QUEUE_SCHEMA);
  return db;
}

/** Methods throw StoreUnavailable and StoreFailed, which name the file. */
export class QueueDatabase {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #statements = new Map<StatementName, StatementSync>();
  readonly #writes: GroupCommit;

  /** `readOnly`: nothing in the file's folder changes. */
  constructor(file: string, { readOnly = false } = {}) {
    this.#file = file;
    this.#db = readOnly ? openReadOnlyOrEmpty(file, QUEUE_SCHEMA) : openQueueFile(file);
    this.#writes = new GroupCommit(this.#db);
  }

  /**
   * Group commit: all work of one turn of the event loop is one transaction. It is not fsynced, because an attempt
   * whose record is lost in a power failure is only made again.
   */
  soon<T>(work: () => T): Promise<T> {
    return this.#writes.write(work);
  }

  /** A transaction of its own, fsynced before it returns. */
  onDisk<T>(work: () => T): T {
    this.#db.exec("PRAGMA synchronous = FULL");
    try {
      return inTransaction(this.#db, work);
    } finally {
      this.#db.exec("PRAGMA synchronous = NORMAL");
    }
  }

  /** Returns the number of changed rows. */
  run(name: StatementName, values: Values): number {
    return this.#named(() => Number(this.#statement(name).run(values).changes));
  }

  get<T>(name: StatementName, values: Values): T | undefined {
    return this.#named(() => this.#statement(name).get(values) as T | undefined);
  }

  all<T>(name: StatementName, values: Values): T[] {
    return this.#named(() => this.#statement(name).all(values) as T[]);
  }

  close(): void {
    if (!this.#db.isOpen) return;
    this.#writes.close();
    this.#statements.clear();
    this.#db.close();
  }

  #named<T>(work: () => T): T {
    return unavailableOnError(work, this.#file);
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
