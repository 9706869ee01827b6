// What can be read of a damaged file of the click journal: rows before and behind the damage.
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { newEvent } from "../../events/new-event.ts";
import { gapStream } from "../../events/streams.ts";
import type { NewEvent } from "../../stores/event-store/port.ts";
import type { ClickBatch } from "./append-clicks.ts";

/** `expected` -1: the stream must not exist. `events`: JSON of the list. */
export type Row = { number: number; stream: string; expected: number; clicks: number; events: string };

/**
 * `lost`: the clicks of rows whose events can't be read, and of those that are missing between others of their stream.
 * `isExact`: there are no others.
 */
type Readable = { batches: ClickBatch[]; lost: number; isExact: boolean; logId: string | undefined };

export const PAGE_BYTES = 4_096;
/** Numbers of the header by which SQLite tells a file's size, and whether that is up to date; pages without use. */
const STATED_SIZE = [28, 32, 36, 92];

/**
 * In place of the file's first page there is another journal's while it is read, if SQLite can't open it: where that is the
 * tables' names alone, all clicks can be read. `dropped`: up to this number rows are in the log.
 */
export function readWithFirstPage(file: string, page: Buffer, dropped: number): Readable {
  const damaged = firstPageOf(file);
  const opened = () => {
    const db = new DatabaseSync(file, { defensive: false });
    if (orUndefined(() => db.prepare("SELECT number FROM appends"))) return db;
    db.close();
    return undefined;
  };
  let db = opened();
  const isReplaced = db === undefined && damaged.length === PAGE_BYTES;
  if (isReplaced) {
    const stated = Buffer.from(page);
    for (const at of STATED_SIZE) stated.writeUInt32BE(0, at);
    overwrite(file, stated);
    db = opened();
  }
  try {
    return readable(db ?? new DatabaseSync(":memory:"), dropped);
  } finally {
    db?.close();
    if (isReplaced) overwrite(file, damaged);
  }
}

export function firstPageOf(file: string): Buffer {
  const page = Buffer.alloc(PAGE_BYTES);
  const handle = openSync(file, "r");
  const bytes = readSync(handle, page, 0, PAGE_BYTES, 0);
  closeSync(handle);
  return page.subarray(0, bytes);
}

function overwrite(file: string, page: Buffer): void {
  const handle = openSync(file, "r+");
  writeSync(handle, page, 0, page.length, 0);
  closeSync(handle);
}

/** `dropped`: as of readWithFirstPage. */
export function readable(db: DatabaseSync, dropped: number): Readable {
  // By the first one also a file that was cut short is read up to its end.
  orUndefined(() => db.exec("PRAGMA writable_schema = ON; PRAGMA cell_size_check = ON"));
  const rows = new Map<number, Omit<Row, "events">>();
  const read = (order: string) =>
    orUndefined(() => {
      const listing = `SELECT number, stream, expected, clicks FROM appends WHERE number > ? ORDER BY number ${order}`;
      for (const row of db.prepare(listing).iterate(dropped) as Iterable<Row>) rows.set(row.number, row);
      return true;
    }) ?? false;
  const isWhole = read("ASC");
  const isFirstRead = rows.size > 0;
  if (!isWhole) read("DESC");
  const value = (sql: string, ...parameters: number[]) =>
    orUndefined(() => Object.values(db.prepare(sql).get(...parameters) ?? {})[0]);
  const logId = value("SELECT id FROM log");
  const last = Number(value("SELECT seq FROM sqlite_sequence WHERE name = 'appends'") ?? 0);
  const inOrder = [...rows.values()].sort((a, b) => a.number - b.number);
  let isExact = isWhole || (isFirstRead && inOrder.at(-1)?.number === last);
  let lost = 0;
  const batches: ClickBatch[] = [];
  for (const [n, { number, stream, expected, clicks }] of inOrder.entries()) {
    const before = inOrder[n - 1];
    if (before && number > before.number + 1) {
      if (stream !== before.stream) isExact = false;
      else lost += Math.max(0, expected - before.expected - before.clicks);
    }
    const json = value("SELECT events FROM appends WHERE number = ?", number);
    const events = orUndefined(() => JSON.parse(String(json)) as NewEvent[]);
    if (events?.length === clicks) batches.push({ stream, after: expected, events });
    else lost += clicks;
  }
  return { batches, lost, isExact, logId: typeof logId === "string" ? logId : undefined };
}

function orUndefined<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** What the log says of lost clicks: in its turn, as any other batch. `writtenAt`: when the last of them was put. */
export function gapBatch(
  id: string,
  { batches, lost: hits }: Readable,
  { now, writtenAt }: Record<"now" | "writtenAt", Date>,
): ClickBatch {
  const until = writtenAt.toISOString();
  const times = batches.flatMap(({ events }) => events.map(({ data }) => (data as { at: string }).at));
  const [from = until] = [...times, until].sort();
  const data = { at: now.toISOString(), from, until, hits };
  return { stream: gapStream(id), after: -1, events: [newEvent({ type: "ClicksNotRecorded", data }, id)] };
}
