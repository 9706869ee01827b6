// The read store on SQLite in the caller's thread: a table for each collection, a row for each document.
import { DatabaseSync, type StatementSync } from "node:sqlite";
import {
  inSnapshot,
  inTransaction,
  limitOf,
  openReadOnlyOrEmpty,
  unavailableOnError,
} from "../connections/sqlite.ts";
import { refuseAltered } from "../connections/structure.sqlite.ts";
import type { Position } from "../event-store/port.ts";
import { fieldName } from "./names.ts";
import {
  type Checkpoint,
  CheckpointMoved,
  type CollectionSpec,
  type CollectionWrite,
  type CountQuery,
  type Document,
  type ElementCount,
  type ElementQuery,
  type FindQuery,
  isSameCheckpoint,
  type ReadStore,
  type WriteBatch,
} from "./port.ts";
import { column, matchSql, searchSql, tableName } from "./query.sqlite.ts";
import { storedParts } from "./stored-document.ts";

/** Pages in memory, for each connection: few, as each commit of another one empties them. */
const CACHE_MB = 8;
const CHECKPOINTS = "CREATE TABLE IF NOT EXISTS checkpoints (name TEXT PRIMARY KEY, doc TEXT NOT NULL)";
/**
 * `fields`, `nested`: JSON of the parts of a document. Queries and expression indexes parse the first one alone: for one of
 * 8 KB, of which most is nested, an index makes a write by an eighth dearer instead of by two thirds.
 */
const COLUMNS = "(_id TEXT PRIMARY KEY, position TEXT NOT NULL, fields TEXT NOT NULL, nested TEXT)";

/** As a value, because an error has its message alone on its way from another thread. */
export type WriteOutcome = { isMoved: boolean; stored?: Checkpoint | undefined };

export class SqliteReadStore implements ReadStore {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /**
   * Opens or creates the file; an empty name makes a temporary one. With `readOnly` nothing in its folder changes.
   * @throws StoreUnavailable, StoreFailed
   */
  constructor(file: string, { readOnly = false } = {}) {
    const open = () => (readOnly ? openReadOnlyOrEmpty(file, CHECKPOINTS) : openDatabase(file));
    this.#file = file;
    this.#db = unavailableOnError(open, file);
  }

  async ensure(specs: readonly CollectionSpec[]): Promise<void> {
    this.#named(() => {
      // Without the lock for writing where nothing is missing, as a rebuild may hold it for seconds.
      const missing = specs.filter((spec) => !this.#has(spec));
      if (missing.length === 0) return;
      // In one transaction, as another program may drop a collection between its table and an index of it.
      inTransaction(this.#db, () => {
        for (const spec of missing) this.#create(spec);
      });
    });
  }

  async get<D extends Document>(collection: string, id: string): Promise<D | undefined> {
    return this.#read(collection, undefined, (table) => {
      const row = this.#prepare(`SELECT fields, nested FROM ${table} WHERE _id = ?`).get(id);
      return row && parsed<D>(row);
    });
  }

  async getMany<D extends Document>(
    collection: string,
    ids: readonly string[],
    fields?: readonly string[],
  ): Promise<D[]> {
    // SQLite cuts them out in a part of the time that parsing the others would take.
    const members = fields?.map((field) => `'${fieldName(field)}', nested -> '$.${fieldName(field)}'`);
    const nested = members ? `json_object(${members.join(", ")}) AS nested` : "nested";
    return this.#read(collection, [], (table) => {
      const byId = this.#prepare(`SELECT fields, ${nested} FROM ${table} WHERE _id = ?`);
      const rows = inSnapshot(this.#db, () => [...new Set(ids)].map((id) => byId.get(id)));
      return rows.flatMap((row) => (row ? parsed<D>(row) : []));
    });
  }

  async find<D extends Document>(collection: string, query: FindQuery): Promise<D[]> {
    const { sql, values } = searchSql(collection, query);
    const nested = query.fields ? "NULL AS nested" : "nested";
    return this.#read(collection, [], () => {
      const rows = this.#prepare(`SELECT fields, ${nested} ${sql}`).all(...values);
      return rows.map((row) => parsed<D>(row));
    });
  }

  async count(collection: string, query: CountQuery): Promise<number> {
    const { sql, values } = matchSql(collection, query);
    return this.#read(collection, 0, () =>
      Number(this.#prepare(`SELECT count(*) AS n ${sql}`).get(...values)?.n),
    );
  }

  async countElements(
    collection: string,
    { field, limit, ...query }: CountQuery & ElementQuery,
  ): Promise<ElementCount[]> {
    const { sql, values } = matchSql(collection, query);
    return this.#read(collection, [], () => {
      const rows = this.#prepare(
        `SELECT value AS element, count(*) AS documents FROM (SELECT ${column(field)} AS list ${sql}), json_each(list)
         GROUP BY value ORDER BY documents DESC, element ${limitOf("?")}`,
      ).all(...values, limit);
      return rows.map(({ element, documents }) => ({
        element: String(element),
        documents: Number(documents),
      }));
    });
  }

  async write(batch: WriteBatch): Promise<void> {
    throwIfMoved(batch, await this.tryWrite(batch));
  }

  async tryWrite({ documents, checkpoint }: WriteBatch): Promise<WriteOutcome> {
    const work = () => {
      const stored = checkpoint && this.#checkpoint(checkpoint.name);
      if (checkpoint && !isSameCheckpoint(stored, checkpoint.from)) return { isMoved: true, stored };
      if (!documents.every((written) => this.#isUnchanged(written))) return { isMoved: true, stored };
      for (const { collection, documents: changed, replaced, removed = [] } of documents) {
        this.#upsert(collection, changed, replaced !== undefined);
        this.#remove(collection, removed);
      }
      const save = "REPLACE INTO checkpoints (name, doc) VALUES (?, ?)";
      if (checkpoint) this.#prepare(save).run(checkpoint.name, JSON.stringify(checkpoint.to));
      return { isMoved: false };
    };
    return this.#named(() => inTransaction(this.#db, work));
  }

  async checkpoint(name: string): Promise<Checkpoint | undefined> {
    return this.#named(() => this.#checkpoint(name));
  }

  async inconsistency(): Promise<undefined> {
    return undefined;
  }

  async checkpoints(): Promise<Record<string, Checkpoint>> {
    return this.#named(() => {
      const rows = this.#prepare("SELECT name, doc FROM checkpoints").all();
      return Object.fromEntries(rows.map(({ name, doc }) => [String(name), JSON.parse(String(doc))]));
    });
  }

  async drop(collection: string): Promise<void> {
    const table = tableName(collection);
    this.#named(() => this.#db.exec(`DROP TABLE IF EXISTS ${table}`));
    for (const sql of this.#statements.keys()) if (sql.includes(table)) this.#statements.delete(sql);
  }

  async dropCheckpoint(name: string): Promise<void> {
    this.#named(() => this.#prepare("DELETE FROM checkpoints WHERE name = ?").run(name));
  }

  async close(): Promise<void> {
    if (!this.#db.isOpen) return;
    this.#statements.clear();
    this.#db.close();
  }

  /** `whenMissing`: the answer for a collection that does not exist. */
  #read<T>(collection: string, whenMissing: T, read: (table: string) => T): T {
    const table = tableName(collection);
    return this.#named(() => {
      try {
        return read(table);
      } catch (error) {
        if (String(error).endsWith(`no such table: docs_${collection}`)) return whenMissing;
        throw error;
      }
    });
  }

  #named<T>(work: () => T): T {
    return unavailableOnError(work, this.#file);
  }

  #checkpoint(name: string): Checkpoint | undefined {
    const row = this.#prepare("SELECT doc FROM checkpoints WHERE name = ?").get(name);
    return row && JSON.parse(String(row.doc));
  }

  #isUnchanged({ collection, replaced }: CollectionWrite): boolean {
    if (!replaced || replaced.size === 0) return true;
    this.#create({ name: collection, indexes: [] });
    const byId = this.#prepare(`SELECT position FROM ${tableName(collection)} WHERE _id = ?`);
    return [...replaced].every(([id, position]) => (byId.get(id)?.position ?? "") === position);
  }

  #remove(collection: string, removed: readonly { id: string; position: Position }[]): void {
    if (removed.length === 0) return;
    this.#create({ name: collection, indexes: [] });
    const remove = this.#prepare(`DELETE FROM ${tableName(collection)} WHERE _id = ? AND position = ?`);
    for (const { id, position } of removed) remove.run(id, position);
  }

  #upsert(collection: string, documents: readonly Document[], isReplaced: boolean): void {
    if (documents.length === 0) return;
    this.#create({ name: collection, indexes: [] });
    const upsert = this.#prepare(
      `INSERT INTO ${tableName(collection)} AS stored (_id, position, fields, nested) VALUES (?, ?, ?, ?)
       ON CONFLICT (_id) DO UPDATE SET position = excluded.position, fields = excluded.fields, nested = excluded.nested
       ${isReplaced ? "" : "WHERE stored.position < excluded.position"}`,
    );
    for (const document of documents) {
      const { fields, nested } = storedParts(document);
      const text = nested ? JSON.stringify(nested) : null;
      upsert.run(document._id, document._position, JSON.stringify(fields), text);
    }
  }

  #has({ name, indexes }: CollectionSpec): boolean {
    const byName = this.#prepare("SELECT 1 FROM sqlite_schema WHERE name = ?");
    const names = [`docs_${name}`, ...indexes.map((fields) => indexName(name, fields))];
    return names.every((wanted) => byName.get(wanted) !== undefined);
  }

  #create({ name, indexes }: CollectionSpec): void {
    const table = tableName(name);
    this.#db.exec(`CREATE TABLE IF NOT EXISTS ${table} ${COLUMNS}`);
    for (const fields of indexes) {
      // `_id` last, so that paging by (field, _id) needs no sort.
      const columns = [...new Set([...fields, "_id"])].map(column).join(", ");
      this.#db.exec(`CREATE INDEX IF NOT EXISTS "${indexName(name, fields)}" ON ${table} (${columns})`);
    }
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

function indexName(collection: string, fields: readonly string[]): string {
  return `ix_${collection}_${fields.join("_")}`;
}

/** @throws CheckpointMoved */
export function throwIfMoved({ checkpoint }: WriteBatch, { isMoved, stored }: WriteOutcome): void {
  if (isMoved) throw new CheckpointMoved(checkpoint?.name ?? "", stored);
}

function openDatabase(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5000 });
  db.exec("PRAGMA journal_mode = WAL");
  // No fsync at each commit: documents of a commit that was lost are folded again from the checkpoint.
  db.exec("PRAGMA synchronous = NORMAL");
  // Fewer, larger WAL checkpoints, as a busy projector rewrites the same pages many times.
  db.exec("PRAGMA wal_autocheckpoint = 16000; PRAGMA journal_size_limit = 134217728");
  db.exec(`PRAGMA cache_size = -${CACHE_MB * 1024}`);
  db.exec(CHECKPOINTS);
  refuseAltered(db);
  return db;
}

/** Those whose columns are not as this version makes them, a line each. @throws SQLite's error */
export function foreignTables(db: DatabaseSync): string[] {
  const tables = db.prepare(COLUMNS_OF_TABLES).all() as { name: string; columns: string }[];
  return tables
    .filter(
      ({ name, columns }) => columns !== (name === "checkpoints" ? "name,doc" : "_id,position,fields,nested"),
    )
    .map(({ name, columns }) => `the table ${name} has the columns ${columns}`);
}

const COLUMNS_OF_TABLES = `
  SELECT tables.name, group_concat(columns.name ORDER BY columns.cid) AS columns
  FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
  WHERE tables.type = 'table' AND tables.name NOT GLOB 'sqlite_*' GROUP BY tables.name`;

function parsed<D extends Document>({ fields, nested }: Record<string, unknown>): D {
  const scalars = JSON.parse(String(fields));
  // `nested` may name scalars, as any that are wanted, without their values.
  return nested === null ? scalars : Object.assign(JSON.parse(String(nested)), scalars);
}
