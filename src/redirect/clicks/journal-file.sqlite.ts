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
import { basename, dirname, join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { Refused } from "../../commands/refusals.ts";
import { messageOf } from "../../runtime/errors.ts";
import { moveAway } from "../../stores/connections/damaged-file.sqlite.ts";
import { inTransaction } from "../../stores/connections/sqlite.ts";
import type { NewEvent } from "../../stores/event-store/port.ts";
import type { ClickBatch, JournalSize } from "./append-clicks.ts";
import {
  firstPageOf,
  gapBatch,
  PAGE_BYTES,
  type Row,
  readable,
  readWithFirstPage,
} from "./damaged-journal.sqlite.ts";
import type { JournaledClicks, JournalFile, JournalFiles, Say } from "./journal-file.ts";

export type SqliteJournalOptions = {
  maxBytes: number;
  /** Free disk space below which nothing is put; default 100 MB. */
  minFreeBytes?: number;
  /** A UUID. */
  newName: () => string;
};

const SCHEMA = `
  CREATE TABLE appends (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    stream TEXT NOT NULL,
    expected INTEGER NOT NULL,
    clicks INTEGER NOT NULL,
    events TEXT NOT NULL
  ) STRICT;
  CREATE TABLE log (id TEXT NOT NULL) STRICT;
  PRAGMA user_version = 1;
`;
const VERSION = 1;
const SUFFIX = ".journal";
const MIN_FREE_BYTES = 100 * 1024 * 1024;
const CHECK_DISK_MS = 1_000;
/** Other processes that look for left files lock a new one only while they read its version. */
const LOCK_WITHIN_MS = 5_000;
const SQLITE_BUSY = 5;
const SQLITE_CANTOPEN = 14;

export function sqliteJournalFiles(folder: string, options: SqliteJournalOptions): JournalFiles {
  const { maxBytes, minFreeBytes = MIN_FREE_BYTES, newName } = options;
  const limits = { maxBytes, hasSpace: diskWatch(folder, minFreeBytes) };
  /** Own ones, and those that are not for this process. */
  const passed = new Set<string>();
  /** Without content when they were last looked at: those that are being created have it by the next time. */
  const empty = new Set<string>();

  function create(limits: Limits): SqliteJournalFile {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const name = newName() + SUFFIX;
    const file = join(folder, name);
    const created = new SqliteJournalFile(file, createFile(file), limits);
    passed.add(name);
    return created;
  }

  /** `locked`: the damaged file, which the caller closes; undefined where SQLite can't open it. */
  function replace(
    file: string,
    locked: DatabaseSync | undefined,
    error: unknown,
    say: Say,
    dropped = 0,
  ): JournalFile {
    const replacing = create({ maxBytes: Number.POSITIVE_INFINITY, hasSpace: () => true });
    try {
      const content = locked
        ? readable(locked, dropped)
        : readWithFirstPage(file, replacing.firstPage(), dropped);
      const { batches, lost, isExact, logId } = content;
      const times = { now: new Date(), writtenAt: statSync(file).mtime };
      const gap = lost > 0 ? [gapBatch(newName(), content, times)] : [];
      replacing.put([...batches, ...gap], logId);
      const aside = basename(moveAway(file));
      const read = batches.reduce((sum, { events }) => sum + events.length, 0);
      const others = isExact ? `${lost} are lost` : `${lost} are lost, and others, it is not known how many`;
      say(
        `The click journal ${basename(file)} is damaged (${messageOf(error)}): it is kept as ${aside}; ${read} clicks could be read, ${others}`,
        error,
      );
    } catch (failure) {
      replacing.discard();
      throw failure;
    }
    return replacing;
  }

  function openFile(name: string, logId: string, say: Say): JournalFile | undefined {
    const file = join(folder, name);
    const leave = (why: string) => {
      passed.add(name);
      say(`The click journal ${name} ${why}: it stays as it is`);
    };
    let db: DatabaseSync | undefined;
    try {
      // Into a shorter one SQLite would write.
      if (statSync(file).size >= PAGE_BYTES) db = openLocked(file, 0);
      const version = Number(db?.prepare("PRAGMA user_version").get()?.user_version ?? 0);
      if (version > VERSION) leave("is of another version of this program");
      if (version < VERSION && empty.has(name)) throw new Error("there is nothing in it");
      if (version < VERSION) empty.add(name);
      const opened = db && version === VERSION ? new SqliteJournalFile(file, db) : undefined;
      if (opened && (opened.logId ?? logId) === logId) return opened;
      if (opened) leave(`is of the log ${opened.logId}, and this is ${logId}`);
      db?.close();
    } catch (error) {
      try {
        if (!isElsewhere(error)) return replace(file, db, error, say);
      } finally {
        db?.close();
      }
    }
    return undefined;
  }

  return {
    create: () => create(limits),
    openLeft(logId, say) {
      if (!existsSync(folder)) return [];
      const left = readdirSync(folder).filter((name) => name.endsWith(SUFFIX) && !passed.has(name));
      return left.flatMap((name) => openFile(name, logId, say) ?? []);
    },
    replaceDamaged(damaged, error, say) {
      const { file, db, dropped } = damaged as SqliteJournalFile;
      const replacing = replace(file, db, error, say, dropped);
      // Where it fails, the same file is read again at the next try.
      db.close();
      return replacing;
    },
  };
}

type Limits = { maxBytes: number; hasSpace: () => boolean };

class SqliteJournalFile implements JournalFile {
  readonly file: string;
  readonly db: DatabaseSync;
  logId: string | undefined;
  readonly #limits: Limits | undefined;
  readonly #insert: StatementSync;
  readonly #oldest: StatementSync;
  readonly #delete: StatementSync;
  #size: JournalSize;
  /** Up to this number rows are in the log. */
  dropped = 0;

  /** `db`: the file, locked. `limits`: undefined for one that is only emptied. @throws SQLite's error of a damaged one */
  constructor(file: string, db: DatabaseSync, limits?: Limits) {
    this.file = file;
    this.db = db;
    this.#limits = limits;
    this.#insert = db.prepare("INSERT INTO appends (stream, expected, clicks, events) VALUES (?, ?, ?, ?)");
    this.#oldest = db.prepare("SELECT * FROM appends WHERE number > ? ORDER BY number");
    this.#delete = db.prepare("DELETE FROM appends WHERE number <= ?");
    const sizes = "total(clicks) AS clicks, total(octet_length(events)) AS bytes";
    this.#size = db.prepare(`SELECT ${sizes} FROM appends`).get() as JournalSize;
    this.logId = db.prepare("SELECT id FROM log").get()?.id as string | undefined;
  }

  put(batches: readonly ClickBatch[], logId?: string): void {
    const size = { ...this.#size };
    const rows = batches.map(({ stream, after, events }) => {
      const json = JSON.stringify(events);
      size.clicks += events.length;
      size.bytes += Buffer.byteLength(json);
      return [stream, after, events.length, json] as const;
    });
    if (!this.#limits || size.bytes > this.#limits.maxBytes || !this.#limits.hasSpace())
      throw new Refused("journal_full", "The click journal is full: by CLICK_JOURNAL_MB, or by its disk");
    inTransaction(this.db, () => {
      this.#delete.run(this.dropped);
      for (const row of rows) this.#insert.run(...row);
      if (this.logId === undefined && logId !== undefined)
        this.db.prepare("INSERT INTO log VALUES (?)").run(logId);
    });
    this.logId ??= logId;
    this.#size = size;
  }

  oldest(mostClicks: number): JournaledClicks | undefined {
    const rows: Row[] = [];
    let clicks = 0;
    for (const row of this.#oldest.iterate(this.dropped) as Iterable<Row>) {
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
    this.dropped = upTo;
    this.#size = { clicks: this.#size.clicks - events.length, bytes: this.#size.bytes - bytes };
  }

  size(): JournalSize {
    return this.#size;
  }

  /** A process that locks the file between close and removal finds it empty: only its owner writes to it. */
  close(): void {
    if (!this.db.isOpen) return;
    const isEmpty = this.#size.clicks === 0;
    try {
      if (isEmpty) this.#delete.run(this.dropped);
    } catch {
      // A damaged one.
    }
    this.db.close();
    if (isEmpty) removeFile(this.file);
  }

  /** As every journal has it that SQLite can open. */
  firstPage(): Buffer {
    this.db.exec("PRAGMA wal_checkpoint");
    return firstPageOf(this.file);
  }

  discard(): void {
    this.db.close();
    removeFile(this.file);
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

/** Whether it is held or created by a running process, or gone by now. */
function isElsewhere(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: number; code?: string };
  const isLocked = ((errcode ?? 0) & 0xff) === SQLITE_BUSY;
  return isLocked || code === "ENOENT" || errcode === SQLITE_CANTOPEN;
}

/** Locked exclusively until it is closed; the kernel releases the lock when the process ends, also after a crash. */
function openLocked(file: string, timeout: number): DatabaseSync {
  const db = new DatabaseSync(file, { timeout, defensive: false });
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
