// Documents on their way into SQLite: each is turned into JSON when it is added, in memory that another thread can read too.
import type { SQLInputValue } from "node:sqlite";
import type { BatchWrite, Document, WriteBatch } from "../port.ts";
import { columnValues, type Table, type Upsert, upsertOf } from "./columns.ts";

/**
 * The documents of one table. `rows`: `_id`, `position` and the columns in order; `starts`, `ends`: where the JSON of each
 * row is in the memory.
 */
type TableRows = Upsert & { rows: (readonly SQLInputValue[])[]; starts: number[]; ends: number[] };

/** What is written in one transaction. `memory`: the JSON of all documents, as UTF-8; it must stay as it is until then. */
export type BatchRows = Pick<BatchWrite, "checkpoints"> & {
  memory: SharedArrayBuffer;
  tables: readonly TableRows[];
};

export type WriteBatchDeps = {
  tableOf: (collection: string) => Table;
  /** Of batches that have been written. */
  free: SharedArrayBuffer[];
  /** `isMeanwhile`: as in BatchWrite. */
  write: (rows: BatchRows, isMeanwhile: boolean) => Promise<void>;
};

/** Of UTF-8, for each UTF-16 code unit of a string. */
const MAX_BYTES = 3;
/** Larger than most batches of 500 documents; the system provides a page when it is written. */
const MEMORY_BYTES = 4 * 1024 * 1024;

export class SqliteWriteBatch implements WriteBatch {
  readonly #deps: WriteBatchDeps;
  readonly #tables = new Map<string, TableRows>();
  #bytes: Buffer<SharedArrayBuffer>;
  #end = 0;
  #size = 0;

  constructor(deps: WriteBatchDeps) {
    this.#deps = deps;
    this.#bytes = Buffer.from(deps.free.pop() ?? new SharedArrayBuffer(MEMORY_BYTES));
  }

  get size(): number {
    return this.#size;
  }

  add(collection: string, documents: readonly Document[]): void {
    const table = this.#deps.tableOf(collection);
    const { rows, starts, ends } = this.#rowsOf(table);
    for (const document of documents) {
      const json = JSON.stringify(document);
      this.#reserve(json.length * MAX_BYTES);
      starts.push(this.#end);
      this.#end += this.#bytes.write(json, this.#end);
      ends.push(this.#end);
      rows.push([document._id, document._position, ...columnValues(document, table.columns)]);
    }
    this.#size += documents.length;
  }

  async write({ checkpoints, isMeanwhile = false }: BatchWrite): Promise<void> {
    const { buffer: memory } = this.#bytes;
    try {
      await this.#deps.write({ memory, tables: [...this.#tables.values()], checkpoints }, isMeanwhile);
    } finally {
      this.#deps.free.push(memory);
    }
  }

  #rowsOf({ table, columns }: Table): TableRows {
    const known = this.#tables.get(table);
    if (known) return known;
    const rows = { ...upsertOf(table, columns), rows: [], starts: [], ends: [] };
    this.#tables.set(table, rows);
    return rows;
  }

  #reserve(bytes: number): void {
    const needed = this.#end + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.from(new SharedArrayBuffer(2 * needed));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}
