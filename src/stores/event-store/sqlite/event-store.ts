// The event store of the embedded default: one SQLite file, read in the caller's thread, appended to there or in another.
import type { Calls } from "../../../runtime/threads/calls.ts";
import { orUndefined, StoreUnavailable } from "../../connections/errors.ts";
import { unavailableOnError } from "../../connections/sqlite.ts";
import { categoryOf } from "../categories.ts";
import { type EventStore, type ReadAllOptions, RevisionConflict, type SubscribeOptions } from "../port.ts";
import { AppendSignal } from "./append-signal.ts";
import { positionText } from "./bodies.ts";
import { follow } from "./follow.ts";
import { fileProblems, openLogFile } from "./log-file.ts";
import { LogFileReader } from "./read-log.ts";
import { type AppendOutcome, appendRequest, LogFileWriter } from "./write-log.ts";

export type SqliteEventStoreOptions = {
  /** Of the same file, perhaps in another thread, which the caller closes; its own when absent. */
  appends?: Appends;
  /** Nothing in the file's folder changes, also when the file was altered; not with `appends`. */
  readOnly?: boolean | undefined;
  /** How long an append waits for another process's, in milliseconds; default 5,000. */
  lockWithinMs?: number;
  clock?: () => Date;
};

export type Appends = Pick<LogFileWriter, "append" | "close">;

/** `appends`: for the stores of other threads (`remoteAppends`). */
export type SqliteEventStore = EventStore & { appends: Appends };

const LOCK_WITHIN_MS = 5_000;

const NO_APPENDS: Appends = {
  append: () => Promise.reject(new StoreUnavailable("The log was opened to be read only")),
  close: async () => undefined,
};

/**
 * @throws file_altered for a file of another form, and for one with a trigger, a view or another schema, unless
 * it is only read; StoreUnavailable when the file can't be opened
 */
export async function openSqliteEventStore(
  file: string,
  options: SqliteEventStoreOptions = {},
): Promise<SqliteEventStore> {
  const { readOnly = false, lockWithinMs = LOCK_WITHIN_MS, clock = () => new Date() } = options;
  const db = unavailableOnError(() => openLogFile(file, readOnly), file);
  const appends = options.appends ?? (readOnly ? NO_APPENDS : new LogFileWriter(db));
  const reader = unavailableOnError(() => new LogFileReader(db), file);
  const appendSignal = new AppendSignal(file);
  const closing = new AbortController();
  const refuseWhenClosed = () => {
    if (closing.signal.aborted) throw new StoreUnavailable("The event store is closed");
  };
  const reading = async <T>(read: () => T): Promise<T> => {
    refuseWhenClosed();
    return unavailableOnError(read, file);
  };
  const readPage = (options: ReadAllOptions) => reading(() => reader.readAll(options));
  const head = () => reading(() => reader.head());
  const subscribeAsRead = (options: SubscribeOptions) => {
    const signal = AbortSignal.any([options.signal, closing.signal]);
    return follow({ head, readPage, appendSignal }, { ...options, signal });
  };
  const store: SqliteEventStore = {
    appends,
    async append(stream, expected, events) {
      if (events.length === 0) throw new RangeError(`An append to ${stream} needs at least one event`);
      refuseWhenClosed();
      const request = appendRequest(stream, expected, events, clock().toISOString());
      const outcome = await appends.append(request, lockWithinMs);
      if ("actual" in outcome) throw new RevisionConflict(stream, expected, outcome.actual);
      appendSignal.send(categoryOf(stream));
      return { revision: outcome.revision, position: positionText(outcome.position) };
    },
    read: (stream, options) => reading(() => reader.read(stream, options)),
    readAll: readPage,
    readStored: (options) => reading(() => reader.readStored(options)),
    idAt: (position) => reading(() => reader.idAt(position)),
    structureProblems: () => reading(() => fileProblems(db)),
    subscribe: subscribeAsRead,
    subscribeAsRead,
    head,
    newestOf: (category) => orUndefined(reading(() => reader.newestOf(category))),
    /** Ends subscriptions, and waits for pending appends. */
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      appendSignal.close();
      if (!options.appends) await appends.close();
      if (db.isOpen) db.close();
    },
  };
  return store;
}

/** Those that another thread serves under the name `log`. */
export function remoteAppends(thread: Pick<Calls, "call">): Appends {
  return {
    append: async (...args) => (await thread.call("log", "append", args)) as AppendOutcome,
    close: async () => undefined,
  };
}
