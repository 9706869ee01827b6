// A click spool in one SQLite file: one row per batch, fsynced on write, read back in order and joined.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Refused } from "../../runtime/refused.ts";
import { inTransaction } from "../../stores/connections/sqlite.ts";
import type { NewEvent } from "../../stores/event-store/port.ts";
import type { ClickBatch } from "./append-once.ts";
import type { ClickSpool, PutClicks, SpooledClicks, SpoolSize } from "./click-spool.ts";
import { removeSpoolFile } from "./click-spool-file.sqlite.ts";

/** SQLite keeps the space of deleted rows; an empty file larger than this is vacuumed. */
const SHRINK_ABOVE_BYTES = 32 * 1024 * 1024;

/** `events`: JSON of the list. */
type Row = { number: number; stream: string; expected: number; clicks: number; events: string };

type SpoolLimits = { maxBytes: number; hasRoom: () => boolean };

/** For orphaned spools, which are only drained. */
const NO_PUTS: SpoolLimits = { maxBytes: 0, hasRoom: () => false };

export class SqliteClickSpool implements ClickSpool {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #limits: SpoolLimits;
  readonly #put: StatementSync;
  readonly #oldest: StatementSync;
  readonly #drop: StatementSync;
  readonly #measure: StatementSync;
  #size: SpoolSize;

  /** `db`: the file, locked. */
  constructor(file: string, db: DatabaseSync, limits: SpoolLimits = NO_PUTS) {
    this.#file = file;
    this.#db = db;
    this.#limits = limits;
    this.#put = db.prepare("INSERT INTO appends (stream, expected, clicks, events) VALUES (?, ?, ?, ?)");
    this.#oldest = db.prepare("SELECT number, stream, expected, clicks, events FROM appends ORDER BY number");
    this.#drop = db.prepare("DELETE FROM appends WHERE number <= ?");
    this.#measure = db.prepare(
      "SELECT total(clicks) AS clicks, total(octet_length(events)) AS bytes FROM appends WHERE number <= ?",
    );
    this.#size = this.#measured(Number.MAX_SAFE_INTEGER);
  }

  put(batches: readonly ClickBatch[]): PutClicks {
    const put: PutClicks = { numbers: [], full: undefined };
    const size = { ...this.#size };
    inTransaction(this.#db, () => {
      for (const { stream, after, events } of batches) {
        const text = JSON.stringify(events);
        const bytes = size.bytes + Buffer.byteLength(text);
        put.full = this.#noRoom(bytes);
        if (put.full) break;
        const clicks = events.length;
        put.numbers.push(Number(this.#put.run(stream, after, clicks, text).lastInsertRowid));
        size.bytes = bytes;
        size.clicks += clicks;
      }
    });
    this.#size = size;
    return put;
  }

  #noRoom(bytes: number): Refused | undefined {
    const { maxBytes, hasRoom } = this.#limits;
    if (bytes > maxBytes)
      return new Refused("spool_full", `The click spool is full: it may hold ${maxBytes} bytes`);
    if (!hasRoom())
      return new Refused("spool_full", "The click spool is full: the disk has too little free space");
    return undefined;
  }

  oldest(mostClicks: number): SpooledClicks | undefined {
    const rows: Row[] = [];
    let clicks = 0;
    for (const row of this.#oldest.iterate() as Iterable<Row>) {
      const [first] = rows;
      const follows = row.stream === first?.stream && row.expected === first.expected + clicks;
      if (first && (!follows || clicks + row.clicks > mostClicks)) break;
      rows.push(row);
      clicks += row.clicks;
    }
    const [first, last] = [rows[0], rows.at(-1)];
    if (!first || !last) return undefined;
    const events = rows.flatMap((row) => JSON.parse(row.events) as NewEvent[]);
    return { upTo: last.number, stream: first.stream, after: first.expected, events };
  }

  drop(upTo: number): void {
    const { clicks, bytes } = this.#measured(upTo);
    this.#drop.run(upTo);
    this.#size = { clicks: this.#size.clicks - clicks, bytes: this.#size.bytes - bytes };
    if (this.#size.clicks === 0) this.#shrink();
  }

  size(): SpoolSize {
    return this.#size;
  }

  /** A process that locks the file between close and removal finds it empty: only its owner writes to a spool. */
  close(): void {
    if (!this.#db.isOpen) return;
    this.#db.close();
    if (this.#size.clicks === 0) removeSpoolFile(this.#file);
  }

  #measured(upTo: number): SpoolSize {
    return this.#measure.get(upTo) as SpoolSize;
  }

  #shrink(): void {
    const { page_count: pages } = this.#db.prepare("PRAGMA page_count").get() as { page_count: number };
    const { page_size: size } = this.#db.prepare("PRAGMA page_size").get() as { page_size: number };
    if (pages * size > SHRINK_ABOVE_BYTES) this.#db.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  }
}
