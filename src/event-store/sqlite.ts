// The event store of the embedded default: one SQLite file, asked in this thread or in one of its own.
import { follow } from "./follow.ts";
import {
  type AppendResult,
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  type Position,
  type ReadAllOptions,
  type ReadOptions,
  type RecordedEvent,
  StoreUnavailable,
  type SubscribeOptions,
} from "./port.ts";
import { SqliteLog } from "./sqlite-log.ts";
import { appendRequest, appendResult, positionText, recordedEvent } from "./sqlite-rows.ts";
import type { Answers, Question } from "./sqlite-thread.ts";
import { SqliteThread } from "./sqlite-thread-client.ts";

export type SqliteEventStoreOptions = {
  /** Own thread for SQLite, so that the caller's event loop never waits for the disk; default false. */
  offThread?: boolean;
  /** Milliseconds between looks for other processes' appends; default 100. */
  pollMs?: number;
  clock?: () => Date;
};

/** Answers one question about the log, wherever the log lives. */
type Ask = <Q extends Question>(question: Q) => Promise<Answers[Q["op"]]>;

/** @throws StoreUnavailable when the file can't be opened */
export async function openSqliteEventStore(
  file: string,
  { offThread = false, pollMs = 100, clock = () => new Date() }: SqliteEventStoreOptions = {},
): Promise<EventStore> {
  const ask = offThread ? await askThread(file) : askHere(file);
  return new SqliteEventStore(ask, pollMs, clock);
}

/** A thread that died is replaced at the next question; what it was asked has failed and may be asked again. */
async function askThread(file: string): Promise<Ask> {
  let thread = SqliteThread.open(file);
  await thread;
  const living = async () => {
    const known = thread;
    const isDead = await known.then(
      (one) => one.isDead,
      () => true,
    );
    if (isDead && known === thread) thread = SqliteThread.open(file);
    return thread;
  };
  return async (question) => {
    const asked = await living();
    const answer = await asked.ask(question);
    if (question.op === "close") await asked.terminate();
    return answer;
  };
}

function askHere(file: string): Ask {
  const log = unavailableOnError(() => new SqliteLog(file));
  const answers = {
    append: ({ request }: Question & { op: "append" }) => log.append([request])[0],
    read: ({ request }: Question & { op: "read" }) => log.read(request),
    readAll: ({ request }: Question & { op: "readAll" }) => log.readAll(request),
    head: () => log.head(),
    close: () => log.close(),
  } as Record<Question["op"], (question: Question) => unknown>;
  return async <Q extends Question>(question: Q) =>
    unavailableOnError(() => answers[question.op](question)) as Answers[Q["op"]];
}

function unavailableOnError<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new StoreUnavailable(String(cause), { cause });
  }
}

class SqliteEventStore implements EventStore {
  readonly #ask: Ask;
  readonly #pollMs: number;
  readonly #clock: () => Date;
  readonly #wakes = new Set<() => void>();
  readonly #closing = new AbortController();

  constructor(ask: Ask, pollMs: number, clock: () => Date) {
    this.#ask = ask;
    this.#pollMs = pollMs;
    this.#clock = clock;
  }

  async append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<AppendResult> {
    if (events.length === 0) throw new RangeError(`An append to ${stream} needs at least one event`);
    this.#refuseWhenClosed();
    const recordedAt = this.#clock().toISOString();
    const request = appendRequest(stream, expected, events, recordedAt);
    const result = appendResult(await this.#ask({ op: "append", request }));
    for (const wake of this.#wakes) wake();
    return result;
  }

  async read(stream: string, options: ReadOptions = {}): Promise<RecordedEvent[]> {
    this.#refuseWhenClosed();
    const { from, backwards = false, limit = Number.MAX_SAFE_INTEGER } = options;
    const rows = await this.#ask({ op: "read", request: { stream, from, backwards, limit } });
    return rows.map(recordedEvent);
  }

  async readAll({ after, prefixes, limit }: ReadAllOptions): Promise<RecordedEvent[]> {
    this.#refuseWhenClosed();
    const request = { after: Number(after ?? 0), prefixes, limit };
    return (await this.#ask({ op: "readAll", request })).map(recordedEvent);
  }

  subscribe({ after, prefixes, signal, batchSize: limit = 500 }: SubscribeOptions) {
    const store = {
      head: () => this.head(),
      readAll: (position: Position | undefined) => this.readAll({ after: position, prefixes, limit }),
      wakes: this.#wakes,
      pollMs: this.#pollMs,
    };
    return follow(store, after, AbortSignal.any([signal, this.#closing.signal]));
  }

  async head(): Promise<Position | undefined> {
    this.#refuseWhenClosed();
    const position = await this.#ask({ op: "head" });
    return position === 0 ? undefined : positionText(position);
  }

  /** Subscriptions end; appends already asked for are finished first. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    await this.#ask({ op: "close" });
  }

  #refuseWhenClosed(): void {
    if (this.#closing.signal.aborted) throw new StoreUnavailable("The event store is closed");
  }
}
