// The synchronous read store on SQLite: one table for each collection, documents as JSON, expression indexes.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { inSnapshot, inTransaction, limitOf, unavailableOnError } from "../../connections/sqlite.ts";
import type {
  Checkpoint,
  CollectionSpec,
  CountQuery,
  Document,
  FindQuery,
  ReadStore,
  WriteBatch,
} from "../port.ts";
import { columnsOf, type Table, tableSql } from "./columns.ts";
import { createMissing, openDatabase, openUnchanged } from "./database.ts";
import { column, conditions, order, partOf, tableName } from "./query.ts";
import { SharedSnapshot } from "./shared-snapshot.ts";
import { type BatchRows, SqliteWriteBatch } from "./write-batch.ts";

export class SqliteReadStore implements ReadStore {
  readonly readsAtATime = 50;
  /** Begun only by stores whose lookups share one. */
  protected readonly snapshot: SharedSnapshot;
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #tables = new Map<string, Table>();
  /** Memory of batches that have been written: as many as there were at once. */
  readonly #free: SharedArrayBuffer[] = [];

  readonly #readOnly: boolean;

  /**
   * Opens or creates the file; with `readOnly` nothing in its folder changes. A collection that does not exist reads as
   * empty. @throws StoreUnavailable
   */
  constructor(file: string, { readOnly = false } = {}) {
    this.#readOnly = readOnly;
    this.#db = unavailableOnError(() => (readOnly ? openUnchanged(file) : openDatabase(file)), file);
    this.snapshot = new SharedSnapshot(this.#db);
  }

  async ensure(specs: readonly CollectionSpec[]): Promise<void> {
    for (const spec of specs) unavailableOnError(() => this.#create(spec));
  }

  async get<D extends Document>(collection: string, id: string): Promise<D | undefined> {
    return unavailableOnError(() => {
      const row = this.#prepare(`SELECT doc FROM ${this.#known(collection).table} WHERE _id = ?`).get(id);
      return row ? parse<D>(row) : undefined;
    });
  }

  async getMany<D extends Document>(
    collection: string,
    ids: readonly string[],
    fields?: readonly string[],
  ): Promise<D[]> {
    return unavailableOnError(() => {
      const wanted = fields ? partOf(fields) : "doc";
      const one = this.#prepare(`SELECT ${wanted} FROM ${this.#known(collection).table} WHERE _id = ?`);
      const rows = inSnapshot(this.#db, () => [...new Set(ids)].map((id) => one.get(id)));
      return rows.flatMap((row) => (row ? parse<D>(row) : []));
    });
  }

  async find<D extends Document>(collection: string, query: FindQuery): Promise<D[]> {
    return unavailableOnError(() => {
      const { table, columns } = this.#known(collection);
      const { sql, values } = conditions(query, columns.all);
      const statement = `SELECT doc FROM ${table}${sql} ORDER BY ${order(query.sort, columns.all)} ${limitOf("?")} OFFSET ? + 0`;
      const rows = this.#prepare(statement).all(...values, query.limit, query.skip ?? 0);
      return rows.map((row) => parse<D>(row));
    });
  }

  async count(collection: string, query: CountQuery): Promise<number> {
    return unavailableOnError(() => {
      const { table, columns } = this.#known(collection);
      const { sql, values } = conditions(query, columns.all);
      return Number(this.#prepare(`SELECT count(*) AS n FROM ${table}${sql}`).get(...values)?.n);
    });
  }

  async replace(collection: string, documents: readonly Document[]): Promise<void> {
    if (documents.length === 0) return;
    const batch = this.writeBatch();
    batch.add(collection, documents);
    await batch.write({ checkpoints: {} });
  }

  writeBatch(): WriteBatch {
    return new SqliteWriteBatch({
      // A missing table is created now: one made in the transaction would be gone after a rollback, and known all the same.
      tableOf: (collection) => this.#known(collection),
      free: this.#free,
      write: (rows, isMeanwhile) => (isMeanwhile ? this.writeMeanwhile(rows) : this.write(rows)),
    });
  }

  async write({ memory, tables, checkpoints }: BatchRows): Promise<void> {
    const bytes = new Uint8Array(memory);
    this.snapshot.end();
    inTransaction(this.#db, () => {
      for (const one of tables) this.#upsert(one, bytes);
      for (const [name, checkpoint] of Object.entries(checkpoints)) this.#saveCheckpoint(name, checkpoint);
    });
  }

  /** A store without a thread to write in makes the caller wait. */
  protected async writeMeanwhile(rows: BatchRows): Promise<void> {
    await this.write(rows);
  }

  async drop(collection: string): Promise<void> {
    const table = tableName(collection);
    this.#db.exec(`DROP TABLE IF EXISTS ${table}`);
    this.#tables.delete(table);
    for (const sql of [...this.#statements.keys()]) if (sql.includes(table)) this.#statements.delete(sql);
  }

  async checkpoint(projection: string): Promise<Checkpoint | undefined> {
    return unavailableOnError(() => {
      const row = this.#prepare("SELECT doc FROM checkpoints WHERE name = ?").get(projection);
      return row ? parse<Checkpoint>(row) : undefined;
    });
  }

  async checkpoints(): Promise<Record<string, Checkpoint>> {
    return unavailableOnError(() => {
      const rows = this.#prepare("SELECT name, doc FROM checkpoints").all();
      return Object.fromEntries(rows.map((row) => [String(row.name), parse<Checkpoint>(row)]));
    });
  }

  async saveCheckpoint(projection: string, checkpoint: Checkpoint): Promise<void> {
    this.#saveCheckpoint(projection, checkpoint);
  }

  #saveCheckpoint(projection: string, checkpoint: Checkpoint): void {
    // Also at an equal position: that of the last event before one that is waited for.
    this.#prepare(
      `INSERT INTO checkpoints AS stored (name, position, doc) VALUES (?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET position = excluded.position, doc = excluded.doc
       WHERE stored.position <= excluded.position`,
    ).run(projection, checkpoint.position, JSON.stringify(checkpoint));
  }

  async resetCheckpoint(projection: string): Promise<void> {
    this.#prepare("DELETE FROM checkpoints WHERE name = ?").run(projection);
  }

  async close(): Promise<void> {
    if (!this.#db.isOpen) return;
    this.snapshot.end();
    this.#statements.clear();
    this.#db.close();
  }

  #upsert({ upsert, keepsIndex, rows, starts, ends }: BatchRows["tables"][number], bytes: Uint8Array): void {
    const write = this.#prepare(upsert);
    const writeKept = keepsIndex === undefined ? undefined : this.#prepare(keepsIndex);
    for (const [n, row] of rows.entries()) {
      const document = bytes.subarray(starts[n], ends[n]);
      if (writeKept?.run(...row, document).changes !== 1) write.run(...row, document);
    }
  }

  /** Creates the table when it is missing. */
  #known(collection: string): Table {
    return this.#tables.get(tableName(collection)) ?? this.#create({ name: collection, indexes: [] });
  }

  /** The table and its indexes, as far as they are missing. */
  #create(spec: CollectionSpec): Table {
    const { name, indexes, partialIndexes = [] } = spec;
    const table = tableName(name);
    this.snapshot.end();
    if (this.#readOnly) {
      createMissing(this.#db, table.slice(1, -1), tableSql(table, spec));
      return this.#keep(table);
    }
    this.#db.exec(tableSql(table, spec));
    const { all } = columnsOf(this.#db, table);
    for (const fields of [...indexes, ...partialIndexes]) {
      // `_id` last, so that paging by (field, _id) needs no sort.
      const columns = [...new Set([...fields, "_id"])].map((field) => column(field, all)).join(", ");
      const index = `"ix_${name}_${fields.join("_")}"`;
      const last = partialIndexes.includes(fields) ? fields.at(-1) : undefined;
      const condition = last === undefined ? "" : ` WHERE ${column(last, all)} IS NOT NULL`;
      this.#db.exec(`CREATE INDEX IF NOT EXISTS ${index} ON ${table} (${columns})${condition}`);
    }
    return this.#keep(table);
  }

  #keep(table: string): Table {
    const kept = { table, columns: columnsOf(this.#db, table) };
    this.#tables.set(table, kept);
    return kept;
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

function parse<T>(row: Record<string, unknown>): T {
  return JSON.parse(String(row.doc)) as T;
}
