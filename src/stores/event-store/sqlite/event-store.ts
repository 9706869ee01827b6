// The event store of the embedded default: one SQLite file, accessed in the caller's thread or in a thread of its own.
import { basename } from "node:path";
import { remoteMethods, threadClient } from "../../../runtime/threads/thread-client.ts";
import { StoreUnavailable, storeError } from "../../connections/errors.ts";
import { unavailableOnError } from "../../connections/sqlite.ts";
import { follow } from "../follow.ts";
import {
  type AppendResult,
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  type Position,
  type ReadAllOptions,
  type ReadOptions,
  type RecordedEvent,
  RevisionConflict,
  type StoredText,
  type StructureProblem,
  type SubscribeOptions,
} from "../port.ts";
import {
  type AppendOutcome,
  type AppendRequest,
  appendRequest,
  type LogOptions,
  type ReadAllRequest,
  type ReadRequest,
  type ReadStoredRequest,
  SqliteLog,
} from "./log.ts";
import { openLogFile } from "./log-file.ts";
import { type NewestPositions, newestPositions } from "./newest-position.ts";
import { positionText } from "./positions.ts";

/** LogOptions are not for logs in a thread of their own. */
export type SqliteEventStoreOptions = LogOptions & {
  /** Runs SQLite in a thread of its own, so that the caller's event loop never waits for the disk; default false. */
  offThread?: boolean;
  /** Poll interval for appends of other processes, in milliseconds; default 100. */
  pollMs?: number;
  clock?: () => Date;
};

type Settings = Required<Pick<SqliteEventStoreOptions, "pollMs" | "clock">>;

/** SqliteLog with asynchronous methods, in this thread or in another. */
type Log = {
  append(request: AppendRequest): Promise<AppendOutcome>;
  read(request: ReadRequest): Promise<RecordedEvent[]>;
  readAll(request: ReadAllRequest): Promise<RecordedEvent[]>;
  readStored(request: ReadStoredRequest): Promise<StoredText[]>;
  structureProblems(): Promise<StructureProblem[]>;
  head(): Promise<number>;
  close(): Promise<void>;
};

/** Reading them changes the folder. */
const UNKNOWN: NewestPositions = { newestOf: async () => undefined, close: () => undefined };

const METHODS = ["append", "read", "readAll", "readStored", "structureProblems", "head"] as const;

/** @throws log_form_unknown for a file of another form, StoreUnavailable when the file can't be opened */
export async function openSqliteEventStore(
  file: string,
  options: SqliteEventStoreOptions = {},
): Promise<EventStore> {
  const { offThread = false, pollMs = 100, clock = () => new Date() } = options;
  const log = offThread ? await logInThread(file) : logInCaller(file, options);
  const newest = options.readOnly ? UNKNOWN : newestPositions(file);
  return new SqliteEventStore(log, newest, { pollMs, clock });
}

/**
 * What SQLite itself finds wrong with the file, a line each, the first ten; reads all of it, so not for a thread that serves.
 * @throws log_form_unknown, StoreUnavailable
 */
export function integrityProblems(file: string): string[] {
  return unavailableOnError(() => {
    const db = openLogFile(file, true);
    try {
      const lines = db.prepare("PRAGMA integrity_check(10)").all() as { integrity_check: string }[];
      return lines.flatMap(({ integrity_check: line }) =>
        line === "ok" ? [] : [`${basename(file)} is damaged: ${line}`],
      );
    } finally {
      db.close();
    }
  }, file);
}

async function logInThread(file: string): Promise<Log> {
  // Opened here first, as a thread that can't start is a store that is unavailable, whatever the reason.
  unavailableOnError(() => openLogFile(file).close(), file);
  const thread = threadClient({
    file: new URL("./thread.ts", import.meta.url),
    name: "event-store",
    data: { file },
    toError: storeError,
  });
  await thread.start();
  return { ...remoteMethods<Log, (typeof METHODS)[number]>(thread, "log", METHODS), close: thread.close };
}

function logInCaller(file: string, options: LogOptions): Log {
  const log = unavailableOnError(() => new SqliteLog(file, options), file);
  return {
    append: async (request) => unavailableOnError(() => log.append([request])[0] as AppendOutcome),
    read: async (request) => unavailableOnError(() => log.read(request)),
    readAll: async (request) => unavailableOnError(() => log.readAll(request)),
    readStored: async (request) => unavailableOnError(() => log.readStored(request)),
    structureProblems: async () => unavailableOnError(() => log.structureProblems()),
    head: async () => unavailableOnError(() => log.head()),
    close: async () => log.close(),
  };
}

class SqliteEventStore implements EventStore {
  readonly #log: Log;
  readonly #newest: NewestPositions;
  readonly #settings: Settings;
  readonly #wakes = new Set<() => void>();
  readonly #closing = new AbortController();

  constructor(log: Log, newest: NewestPositions, settings: Settings) {
    this.#log = log;
    this.#newest = newest;
    this.#settings = settings;
  }

  async append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<AppendResult> {
    if (events.length === 0) throw new RangeError(`An append to ${stream} needs at least one event`);
    this.#refuseWhenClosed();
    const recordedAt = this.#settings.clock().toISOString();
    const outcome = await this.#log.append(appendRequest(stream, expected, events, recordedAt));
    if ("actual" in outcome) throw new RevisionConflict(stream, expected, outcome.actual);
    for (const wake of this.#wakes) wake();
    return { revision: outcome.revision, position: positionText(outcome.position) };
  }

  async read(stream: string, options: ReadOptions = {}): Promise<RecordedEvent[]> {
    this.#refuseWhenClosed();
    const { backwards = false, limit = Number.MAX_SAFE_INTEGER } = options;
    const { from = backwards ? Number.MAX_SAFE_INTEGER : 0 } = options;
    return await this.#log.read({ stream, from, backwards, limit });
  }

  async readAll({ after, from, ...options }: ReadAllOptions): Promise<RecordedEvent[]> {
    this.#refuseWhenClosed();
    const before = from === undefined ? Number(after ?? 0) : Number(from) - 1;
    return await this.#log.readAll({ ...options, after: before });
  }

  async readStored({ after, limit }: { after?: Position | undefined; limit: number }): Promise<StoredText[]> {
    this.#refuseWhenClosed();
    return await this.#log.readStored({ after: Number(after ?? 0), limit });
  }

  async structureProblems(): Promise<StructureProblem[]> {
    this.#refuseWhenClosed();
    return await this.#log.structureProblems();
  }

  subscribe({ after, signal, batchSize: limit = 500, categories }: SubscribeOptions) {
    const store = {
      head: () => this.head(),
      readAll: (position: Position | undefined) => this.readAll({ categories, after: position, limit }),
      wakes: this.#wakes,
      pollMs: this.#settings.pollMs,
    };
    return follow(store, after, AbortSignal.any([signal, this.#closing.signal]));
  }

  async head(): Promise<Position | undefined> {
    this.#refuseWhenClosed();
    const position = await this.#log.head();
    return position === 0 ? undefined : positionText(position);
  }

  async newestOf(category: string): Promise<Position | undefined> {
    return await this.#newest.newestOf(category);
  }

  /** Ends subscriptions, and waits for pending appends. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#newest.close();
    await this.#log.close();
  }

  #refuseWhenClosed(): void {
    if (this.#closing.signal.aborted) throw new StoreUnavailable("The event store is closed");
  }
}
