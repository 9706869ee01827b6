// The click journal in SQLite files of one folder: one per writer thread, locked for as long as the thread runs.
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { Refused } from "../../runtime/refused.ts";
import { inTransaction } from "../../stores/connections/sqlite.ts";
import type { NewEvent } from "../../stores/event-store/port.ts";
import type { ClickBatch } from "./append-clicks.ts";
import type { JournaledClicks, JournalFile, JournalFiles, JournalSize } from "./journal-file.ts";

export type SqliteJournalOptions = {
  maxBytes: number;
  /** Free disk space below which nothing is put; default 100 MB. */
  minFreeBytes?: number;
  /** A name that no other file has. */
  newName: () => string;
};

/** `expected` -1: the stream must not exist. `events`: JSON of the list. */
const SCHEMA = `
  CREATE TABLE appends (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    stream TEXT NOT NULL,
    expected INTEGER NOT NULL,
    clicks INTEGER NOT NULL,
    events TEXT NOT NULL
  ) STRICT;
  PRAGMA user_version = 1;
`;
const SUFFIX = ".journal";
const MIN_FREE_BYTES = 100 * 1024 * 1024;
const CHECK_DISK_MS = 1_000;
/** Other processes that look for left files lock a new one only while they read its version. */
const LOCK_WITHIN_MS = 5_000;
const SQLITE_BUSY = 5;
const SQLITE_CANTOPEN = 14;

type Row = { number: number; stream: string; expected: number; clicks: number; events: string };

export function sqliteJournalFiles(folder: string, options: SqliteJournalOptions): JournalFiles {
  const { maxBytes, minFreeBytes = MIN_FREE_BYTES, newName } = options;
  const hasSpace = diskWatch(folder, minFreeBytes);
  /** Own ones, and those that can't be read. */
  const passed = new Set<string>();
  return {
    create() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const name = newName() + SUFFIX;
      const file = join(folder, name);
      const created = new SqliteJournalFile(file, createFile(file), { maxBytes, hasSpace });
      passed.add(name);
      return created;
    },
    openLeft(onUnreadable) {
      if (!existsSync(folder)) return [];
      const left = readdirSync(folder).filter((name) => name.endsWith(SUFFIX) && !passed.has(name));
      return left.flatMap((name) => {
        try {
          return openUnlocked(join(folder, name));
        } catch (error) {
          passed.add(name);
          onUnreadable(
            `The click journal ${name} can't be read, and stays as it is: ${String(error)}`,
            error,
          );
          return [];
        }
      });
    },
  };
}

type Limits = { maxBytes: number; hasSpace: () => boolean };

class SqliteJournalFile implements JournalFile {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #limits: Limits | undefined;
  readonly #insert: StatementSync;
  readonly #oldest: StatementSync;
  readonly #delete: StatementSync;
  #size: JournalSize;
  /** Up to this number rows are in the log. */
  #dropped = 0;

  /** `db`: the file, locked. `limits`: undefined for one that is only emptied. */
  constructor(file: string, db: DatabaseSync, limits?: Limits) {
    this.#file = file;
    this.#db = db;
    this.#limits = limits;
    this.#insert = db.prepare("INSERT INTO appends (stream, expected, clicks, events) VALUES (?, ?, ?, ?)");
    this.#oldest = db.prepare("SELECT * FROM appends WHERE number > ? ORDER BY number");
    this.#delete = db.prepare("DELETE FROM appends WHERE number <= ?");
    const sizes = "total(clicks) AS clicks, total(octet_length(events)) AS bytes";
    this.#size = db.prepare(`SELECT ${sizes} FROM appends`).get() as JournalSize;
  }

  put(batches: readonly ClickBatch[]): void {
    const size = { ...this.#size };
    const rows = batches.map(({ stream, after, events }) => {
      const json = JSON.stringify(events);
      size.clicks += events.length;
      size.bytes += Buffer.byteLength(json);
      return [stream, after, events.length, json] as const;
    });
    if (!this.#limits || size.bytes > this.#limits.maxBytes || !this.#limits.hasSpace())
      throw new Refused("journal_full", "The click journal is full: by CLICK_JOURNAL_MB, or by its disk");
    inTransaction(this.#db, () => {
      this.#delete.run(this.#dropped);
      for (const row of rows) this.#insert.run(...row);
    });
    this.#size = size;
  }

  oldest(mostClicks: number): JournaledClicks | undefined {
    const rows: Row[] = [];
    let clicks = 0;
    for (const row of this.#oldest.iterate(this.#dropped) as Iterable<Row>) {
      const [first] = rows;
      const follows = row.stream === first?.stream && row.expected === first.expected + clicks;
      if (first && (!follows || clicks + row.clicks > mostClicks)) break;
      rows.push(row);
      clicks += row.clicks;
    }
    const [first, last] = [rows[0], rows.at(-1)];
    if (!first || !last) return undefined;
    const events = rows.flatMap((row) => JSON.parse(row.events) as NewEvent[]);
    const bytes = rows.reduce((sum, row) => sum + Buffer.byteLength(row.events), 0);
    return { stream: first.stream, after: first.expected, events, upTo: last.number, bytes };
  }

  drop({ upTo, events, bytes }: JournaledClicks): void {
    this.#dropped = upTo;
    this.#size = { clicks: this.#size.clicks - events.length, bytes: this.#size.bytes - bytes };
  }

  size(): JournalSize {
    return this.#size;
  }

  /** A process that locks the file between close and removal finds it empty: only its owner writes to it. */
  close(): void {
    if (!this.#db.isOpen) return;
    const isEmpty = this.#size.clicks === 0;
    if (isEmpty) this.#delete.run(this.#dropped);
    this.#db.close();
    if (isEmpty) removeFile(this.#file);
  }
}

/** Mode 0600; the folder is fsynced, so that the file survives a power failure. */
function createFile(file: string): DatabaseSync {
  const db = openLocked(file, LOCK_WITHIN_MS);
  try {
    chmodSync(file, 0o600);
    inTransaction(db, () => db.exec(SCHEMA));
    const folder = openSync(dirname(file), "r");
    fsyncSync(folder);
    closeSync(folder);
    return db;
  } catch (error) {
    // Else its lock would be in the way of the next try.
    db.close();
    removeFile(file);
    throw error;
  }
}

/** None while a running process holds or creates it. @throws when it can't be read: then it is not locked either */
function openUnlocked(file: string): JournalFile[] {
  let db: DatabaseSync | undefined;
  try {
    db = openLocked(file, 0);
    const { user_version: version } = db.prepare("PRAGMA user_version").get() as { user_version: number };
    if (version === 1) return [new SqliteJournalFile(file, db)];
    db.close();
  } catch (error) {
    db?.close();
    const { errcode, code } = error as { errcode?: number; code?: string };
    const isLocked = ((errcode ?? 0) & 0xff) === SQLITE_BUSY;
    if (!isLocked && code !== "ENOENT" && errcode !== SQLITE_CANTOPEN) throw error;
  }
  return [];
}

/** Locked exclusively until it is closed; the kernel releases the lock when the process ends, also after a crash. */
function openLocked(file: string, timeout: number): DatabaseSync {
  const db = new DatabaseSync(file, { timeout });
  try {
    db.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function removeFile(file: string): void {
  for (const part of [file, `${file}-wal`]) rmSync(part, { force: true });
}

/** Whether the disk has room; calls statfs at most once a second. */
function diskWatch(folder: string, minFreeBytes: number): () => boolean {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let hasSpace = true;
  return () => {
    if (performance.now() - checkedAt > CHECK_DISK_MS) {
      const { bavail, bsize } = statfsSync(folder);
      hasSpace = bavail * bsize > minFreeBytes;
      checkedAt = performance.now();
    }
    return hasSpace;
  };
}
