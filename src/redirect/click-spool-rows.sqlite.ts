// One click spool in one SQLite file: a row an append, written with an fsync, read back in order, joined.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { NewEvent } from "../event-store/port.ts";
import { type ClickSpool, type SpooledClicks, SpoolFull, type SpoolSize } from "./click-spool.ts";
import { newSpoolFile, removeSpoolFile } from "./click-spool-file.sqlite.ts";

/** An empty file keeps the space of what it once held; beyond this it is given back. */
const SHRINK_ABOVE_BYTES = 32 * 1024 * 1024;

type Row = { number: number; stream: string; expected: number; clicks: number; events: string };

export class SqliteClickSpool implements ClickSpool {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #limits: { maxBytes: number; hasRoom: () => boolean };
  readonly #put: StatementSync;
  readonly #oldest: StatementSync;
  readonly #drop: StatementSync;
  readonly #measure: StatementSync;
  #size: SpoolSize;

  /** Readable by the service's own user only. Without `db` the file is made. */
  constructor(
    file: string,
    limits: { maxBytes: number; hasRoom: () => boolean } | undefined,
    db?: DatabaseSync,
  ) {
    this.#file = file;
    this.#limits = limits ?? { maxBytes: 0, hasRoom: () => false };
    this.#db = db ?? newSpoolFile(file);
    this.#put = this.#db.prepare(
      "INSERT INTO appends (stream, expected, clicks, events) VALUES (?, ?, ?, ?)",
    );
    this.#oldest = this.#db.prepare(
      "SELECT number, stream, expected, clicks, events FROM appends ORDER BY number",
    );
    this.#drop = this.#db.prepare("DELETE FROM appends WHERE number <= ?");
    this.#measure = this.#db.prepare(
      "SELECT total(clicks) AS clicks, total(octet_length(events)) AS bytes FROM appends",
    );
    this.#size = this.#measure.get() as SpoolSize;
  }

  put(stream: string, expected: number | "none", events: readonly NewEvent[]): number {
    const text = JSON.stringify(events);
    const bytes = this.#size.bytes + Buffer.byteLength(text);
    const { maxBytes, hasRoom } = this.#limits;
    if (bytes > maxBytes) throw new SpoolFull(`The click spool is full: it may hold ${maxBytes} bytes`);
    if (!hasRoom()) throw new SpoolFull("The click spool is full: the disk has no room left");
    const { lastInsertRowid } = this.#put.run(
      stream,
      expected === "none" ? -1 : expected,
      events.length,
      text,
    );
    this.#size = { clicks: this.#size.clicks + events.length, bytes };
    return Number(lastInsertRowid);
  }

  oldest(mostClicks: number): SpooledClicks | undefined {
    let found: SpooledClicks | undefined;
    for (const row of this.#oldest.iterate() as Iterable<Row>) {
      const expected = row.expected < 0 ? "none" : row.expected;
      const events = (): NewEvent[] => JSON.parse(row.events);
      if (!found) found = { upTo: row.number, stream: row.stream, expected, events: events() };
      else if (!follows(found, row) || found.events.length + row.clicks > mostClicks) break;
      else {
        found.upTo = row.number;
        found.events.push(...events());
      }
    }
    return found;
  }

  drop(upTo: number): void {
    this.#drop.run(upTo);
    this.#size = this.#measure.get() as SpoolSize;
    if (this.#size.clicks === 0) this.#shrink();
  }

  size(): SpoolSize {
    return this.#size;
  }

  /** Whoever gets the lock between closing and removing finds it empty, as nobody puts into another's spool. */
  close(): void {
    if (!this.#db.isOpen) return;
    this.#db.close();
    if (this.#size.clicks === 0) removeSpoolFile(this.#file);
  }

  #shrink(): void {
    const { page_count: pages } = this.#db.prepare("PRAGMA page_count").get() as { page_count: number };
    const { page_size: size } = this.#db.prepare("PRAGMA page_size").get() as { page_size: number };
    if (pages * size > SHRINK_ABOVE_BYTES) this.#db.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  }
}

/** The next append of the same stream, right behind what was found so far. */
function follows(found: SpooledClicks, row: Row): boolean {
  const last = (found.expected === "none" ? -1 : found.expected) + found.events.length;
  return row.stream === found.stream && row.expected === last;
}
