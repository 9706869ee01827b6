// The event store of the embedded default: one SQLite file, read in the caller's thread, appended to there or in another.
import type { DatabaseSync } from "node:sqlite";
import { remoteMethods, threadClient } from "../../../runtime/threads/thread-client.ts";
import { StoreUnavailable, storeError } from "../../connections/errors.ts";
import { unavailableOnError } from "../../connections/sqlite.ts";
import {
  type AppendResult,
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  type Position,
  type ReadAllOptions,
  type ReadOptions,
  type ReadStoredOptions,
  type RecordedEvent,
  RevisionConflict,
  type StoredText,
  type StructureProblem,
  type SubscribeOptions,
} from "../port.ts";
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
  { offThread = false, readOnly = false, clock = () => new Date() }: SqliteEventStoreOptions = {},
): Promise<EventStore> {
  const db = unavailableOnError(() => openLogFile(file, readOnly), file);
  try {
    const reader = unavailableOnError(() => new LogReader(db), file);
    const appends = readOnly ? NO_APPENDS : offThread ? await appendsInThread(file) : new LogWriter(db);
    return new SqliteEventStore({ db, reader, appends, appended: new AppendSignal(file), clock });
  } catch (error) {
    db.close();
    throw error;
  }
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

type Deps = {
  db: DatabaseSync;
  reader: LogReader;
  appends: Appends;
  appended: AppendSignal;
  clock: () => Date;
};

class SqliteEventStore implements EventStore {
  readonly #deps: Deps;
  readonly #closing = new AbortController();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<AppendResult> {
    if (events.length === 0) throw new RangeError(`An append to ${stream} needs at least one event`);
    this.#refuseWhenClosed();
    const { appends, appended, clock } = this.#deps;
    const outcome = await appends.append(appendRequest(stream, expected, events, clock().toISOString()));
    if ("actual" in outcome) throw new RevisionConflict(stream, expected, outcome.actual);
    appended.send();
    return { revision: outcome.revision, position: positionText(outcome.position) };
  }

  async read(stream: string, options: ReadOptions = {}): Promise<RecordedEvent[]> {
    const { backwards = false, limit = Number.MAX_SAFE_INTEGER } = options;
    const { from = backwards ? Number.MAX_SAFE_INTEGER : 0 } = options;
    return this.#reading((reader) => reader.read({ stream, from, backwards, limit }));
  }

  async readAll({ after, from, ...options }: ReadAllOptions): Promise<RecordedEvent[]> {
    const before = from === undefined ? Number(after ?? 0) : Number(from) - 1;
    return this.#reading((reader) => reader.readAll({ ...options, after: before }));
  }

  async readStored({ after, limit }: ReadStoredOptions): Promise<StoredText[]> {
    return this.#reading((reader) => reader.readStored({ after: Number(after ?? 0), limit }));
  }

  async structureProblems(): Promise<StructureProblem[]> {
    return this.#reading(() => fileProblems(this.#deps.db));
  }

  subscribe({ after, signal, batchSize: limit = 500, categories }: SubscribeOptions) {
    const log = {
      head: () => this.head(),
      readAll: (position: Position | undefined) => this.readAll({ categories, after: position, limit }),
      appended: this.#deps.appended,
    };
    return follow(log, after, AbortSignal.any([signal, this.#closing.signal]));
  }

  async head(): Promise<Position | undefined> {
    const position = this.#reading((reader) => reader.head());
    return position === 0 ? undefined : positionText(position);
  }

  async newestOf(category: string): Promise<Position> {
    const position = this.#reading((reader) => reader.newestOf(category));
    return position === 0 ? "" : positionText(position);
  }

  /** Ends subscriptions, and waits for pending appends. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    const { db, appends, appended } = this.#deps;
    appended.close();
    await appends.close();
    if (db.isOpen) db.close();
  }

  #reading<T>(read: (reader: LogReader) => T): T {
    this.#refuseWhenClosed();
    return unavailableOnError(() => read(this.#deps.reader));
  }

  #refuseWhenClosed(): void {
    if (this.#closing.signal.aborted) throw new StoreUnavailable("The event store is closed");
  }
}
