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
  statSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
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
/** A file without a schema that is older than this belongs to a process that crashed while creating it. */
const NEW_FILE_MS = 60_000;
/** SQLite keeps the space of deleted rows; an empty file larger than this is vacuumed. */
const SHRINK_ABOVE_BYTES = 32 * 1024 * 1024;
const SQLITE_BUSY = 5;
const SQLITE_CANTOPEN = 14;

type Row = { number: number; stream: string; expected: number; clicks: number; events: string };

export function sqliteJournalFiles(folder: string, options: SqliteJournalOptions): JournalFiles {
  const { maxBytes, minFreeBytes = MIN_FREE_BYTES, newName } = options;
  const own = new Set<string>();
  const unreadable = new Set<string>();
  const names = new WeakMap<JournalFile, string>();
  const hasSpace = diskWatch(folder, minFreeBytes);
  const keep = (name: string, file: JournalFile) => {
    names.set(file, name);
    return file;
  };
  return {
    create() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const name = newName() + SUFFIX;
      const file = join(folder, name);
      const db = createFile(file);
      own.add(name);
      return keep(name, new SqliteJournalFile(file, db, { maxBytes, hasSpace }));
    },
    openLeft(onUnreadable) {
      if (!existsSync(folder)) return [];
      const left = readdirSync(folder).filter(
        (name) => name.endsWith(SUFFIX) && !own.has(name) && !unreadable.has(name),
      );
      return left.flatMap((name) => {
        const file = join(folder, name);
        let db: DatabaseSync | undefined;
        try {
          db = openUnlocked(file);
          return db ? [keep(name, new SqliteJournalFile(file, db, NO_PUTS))] : [];
        } catch (error) {
          // Else its lock would be in the way of who wants to save what is in it.
          db?.close();
          unreadable.add(name);
          onUnreadable(
            `The click journal ${name} can't be read, and stays as it is: ${String(error)}`,
            error,
          );
          return [];
        }
      });
    },
    setAside(file) {
      const name = names.get(file) ?? "";
      unreadable.add(name);
      file.close();
      return name;
    },
  };
}

type Limits = { maxBytes: number; hasSpace: () => boolean };

/** Of files that are only emptied. */
const NO_PUTS: Limits = { maxBytes: 0, hasSpace: () => false };

class SqliteJournalFile implements JournalFile {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #limits: Limits;
  readonly #statements: Record<"put" | "oldest" | "drop" | "measure", ReturnType<DatabaseSync["prepare"]>>;
  #size: JournalSize;
  /** Up to this number rows are in the log. */
  #dropped = 0;

  /** `db`: the file, locked. */
  constructor(file: string, db: DatabaseSync, limits: Limits) {
    this.#file = file;
    this.#db = db;
    this.#limits = limits;
    this.#statements = {
      put: db.prepare("INSERT INTO appends (stream, expected, clicks, events) VALUES (?, ?, ?, ?)"),
      oldest: db.prepare(
        "SELECT number, stream, expected, clicks, events FROM appends WHERE number > ? ORDER BY number",
      ),
      drop: db.prepare("DELETE FROM appends WHERE number <= ?"),
      measure: db.prepare(
        "SELECT total(clicks) AS clicks, total(octet_length(events)) AS bytes FROM appends WHERE number > ? AND number <= ?",
      ),
    };
    this.#size = this.#measured(Number.MAX_SAFE_INTEGER);
  }

  put(batches: readonly ClickBatch[]): void {
    const rows = batches.map(({ stream, after, events }) => {
      return [stream, after, events.length, JSON.stringify(events)] as const;
    });
    const bytes = rows.reduce((sum, [, , , events]) => sum + Buffer.byteLength(events), this.#size.bytes);
    this.#refuseFull(bytes);
    inTransaction(this.#db, () => {
      this.#statements.drop.run(this.#dropped);
      for (const row of rows) this.#statements.put.run(...row);
    });
    const clicks = rows.reduce((sum, [, , count]) => sum + count, this.#size.clicks);
    this.#size = { clicks, bytes };
  }

  oldest(mostClicks: number): JournaledClicks | undefined {
    const rows: Row[] = [];
    let clicks = 0;
    for (const row of this.#statements.oldest.iterate(this.#dropped) as Iterable<Row>) {
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
    this.#size = { clicks: this.#size.clicks - clicks, bytes: this.#size.bytes - bytes };
    this.#dropped = upTo;
    if (this.#size.clicks === 0) this.#shrink();
  }

  size(): JournalSize {
    return this.#size;
  }

  /** A process that locks the file between close and removal finds it empty: only its owner writes to it. */
  close(): void {
    if (!this.#db.isOpen) return;
    if (this.#size.clicks === 0) this.#statements.drop.run(this.#dropped);
    this.#db.close();
    if (this.#size.clicks === 0) removeFile(this.#file);
  }

  #measured(upTo: number): JournalSize {
    return this.#statements.measure.get(this.#dropped, upTo) as JournalSize;
  }

  /** @throws journal_full */
  #refuseFull(bytes: number): void {
    const { maxBytes, hasSpace } = this.#limits;
    if (bytes > maxBytes)
      throw new Refused("journal_full", `The click journal is full: it may hold ${maxBytes} bytes`);
    if (!hasSpace())
      throw new Refused("journal_full", "The click journal is full: the disk has too little free space");
  }

  #shrink(): void {
    const { page_count: pages } = this.#db.prepare("PRAGMA page_count").get() as { page_count: number };
    const { page_size: size } = this.#db.prepare("PRAGMA page_size").get() as { page_size: number };
    if (pages * size <= SHRINK_ABOVE_BYTES) return;
    this.#statements.drop.run(this.#dropped);
    this.#db.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  }
}

/** Mode 0600; the folder is fsynced, so that the file survives a power failure. */
function createFile(file: string): DatabaseSync {
  const db = openLocked(file, LOCK_WITHIN_MS);
  try {
    chmodSync(file, 0o600);
    inTransaction(db, () => db.exec(SCHEMA));
    const folder = openSync(join(file, ".."), "r");
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

/** Opens and locks the file; undefined while a running process holds or creates it. @throws when it can't be read */
function openUnlocked(file: string): DatabaseSync | undefined {
  let db: DatabaseSync | undefined;
  try {
    db = openLocked(file, 0);
    const { user_version: version } = db.prepare("PRAGMA user_version").get() as { user_version: number };
    if (version === 1) return db;
    db.close();
    if (Date.now() - statSync(file).mtimeMs > NEW_FILE_MS) removeFile(file);
  } catch (error) {
    if (db?.isOpen) db.close();
    if (!isLockedOrGone(error)) throw error;
  }
  return undefined;
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

function isLockedOrGone(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: number; code?: string };
  return code === "ENOENT" || ((errcode ?? 0) & 0xff) === SQLITE_BUSY || errcode === SQLITE_CANTOPEN;
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
