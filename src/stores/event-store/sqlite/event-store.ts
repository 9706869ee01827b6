// The event store of the embedded default: one SQLite file, read in the caller's thread, appended to there or in another.
import { remoteMethods, threadClient } from "../../../runtime/threads/thread-client.ts";
import { orUndefined, StoreUnavailable, storeError } from "../../connections/errors.ts";
import { unavailableOnError } from "../../connections/sqlite.ts";
import { type EventStore, RevisionConflict } from "../port.ts";
import { AppendSignal } from "./append-signal.ts";
import { positionText } from "./bodies.ts";
import { follow } from "./follow.ts";
import { fileProblems, openLogFile } from "./log-file.ts";
import { LogReader } from "./read-log.ts";
import { appendRequest, LogWriter } from "./write-log.ts";

export type SqliteEventStoreOptions = {
  /** Appends run in a thread of their own, so that the caller's event loop never waits for the disk; default false. */
  offThread?: boolean;
  /** Nothing in the file's folder changes, also when the file was altered; not with `offThread`. */
  readOnly?: boolean | undefined;
  /** How long a write waits for another process's, in milliseconds; default 5,000; not with `offThread`. */
  lockWithinMs?: number;
  clock?: () => Date;
};

type Appends = Pick<LogWriter, "append" | "close">;

const NO_APPENDS: Appends = {
  append: () => Promise.reject(new StoreUnavailable("The log was opened to be read only")),
  close: async () => undefined,
};

/**
 * @throws log_form_unknown for a file of another form; file_altered for one with a trigger, a view or another schema, unless
 * it is only read; StoreUnavailable when the file can't be opened
 */
export async function openSqliteEventStore(
  file: string,
  options: SqliteEventStoreOptions = {},
): Promise<EventStore> {
  const { offThread = false, readOnly = false, lockWithinMs, clock = () => new Date() } = options;
  const db = unavailableOnError(() => openLogFile(file, readOnly, lockWithinMs), file);
  const appends = readOnly ? NO_APPENDS : offThread ? await appendsInThread(file) : new LogWriter(db);
  const reader = unavailableOnError(() => new LogReader(db), file);
  const appended = new AppendSignal(file);
  const closing = new AbortController();
  const refuseWhenClosed = () => {
    if (closing.signal.aborted) throw new StoreUnavailable("The event store is closed");
  };
  const reading = async <T>(read: () => T): Promise<T> => {
    refuseWhenClosed();
    return unavailableOnError(read);
  };
  const store: EventStore = {
    async append(stream, expected, events) {
      if (events.length === 0) throw new RangeError(`An append to ${stream} needs at least one event`);
      refuseWhenClosed();
      const request = appendRequest(stream, expected, events, clock().toISOString());
      const outcome = await appends.append(request);
      if ("actual" in outcome) throw new RevisionConflict(stream, expected, outcome.actual);
      appended.send();
      return { revision: outcome.revision, position: positionText(outcome.position) };
    },
    read: (stream, options) => reading(() => reader.read(stream, options)),
    readAll: (options) => reading(() => reader.readAll(options)),
    readStored: (options) => reading(() => reader.readStored(options)),
    structureProblems: () => reading(() => fileProblems(db)),
    subscribe: (options) => {
      const signal = AbortSignal.any([options.signal, closing.signal]);
      return follow({ store, appended }, { ...options, signal });
    },
    head: () => reading(() => reader.head()),
    newestOf: (category) => orUndefined(reading(() => reader.newestOf(category))),
    /** Ends subscriptions, and waits for pending appends. */
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      appended.close();
      await appends.close();
      if (db.isOpen) db.close();
    },
  };
  return store;
}

async function appendsInThread(file: string): Promise<Appends> {
  const thread = threadClient({
    file: new URL("./thread.ts", import.meta.url),
    name: "event-store",
    data: { file },
    toError: storeError,
  });
  await thread.start();
  return { ...remoteMethods<Appends, "append">(thread, "log", ["append"]), close: thread.close };
}
