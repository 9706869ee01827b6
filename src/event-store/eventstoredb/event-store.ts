// The event store of production: EventStoreDB, or KurrentDB, its present name; the faults of their clients end in this folder.
import { StoreUnavailable } from "../../connections/errors.ts";
import { pause, untilAborted } from "../../runtime/pause.ts";
import type {
  AppendResult,
  EventStore,
  ExpectedRevision,
  NewEvents,
  Position,
  ReadAllOptions,
  ReadOptions,
  RecordedEvent,
  StoreVersions,
  SubscribeOptions,
} from "../port.ts";
import { append } from "./append.ts";
import type { Driver } from "./driver.ts";
import { type Backoff, withRetries } from "./errors.ts";
import { openDriver } from "./open-driver.ts";
import { within } from "./pull.ts";
import { readHead, readPrefixes, readStream } from "./read.ts";
import { Slots } from "./slots.ts";
import { subscribeForEver } from "./subscription.ts";

export type EventStoreDbOptions = {
  /** Milliseconds an append, or a read between two events, may stay silent; default 5000. */
  timeoutMs?: number;
  /** Milliseconds without a sign of life before a subscription is checked against the log; default 30,000. */
  silenceMs?: number;
  /** Most appends, and as many reads of streams, in flight at once; default 64. Others wait in order. */
  inFlight?: number;
  random?: () => number;
};

type Settings = Required<Omit<EventStoreDbOptions, "random">> & { backoff: Backoff };

/** Milliseconds that appends in flight, and then closing connections, may take. */
const CLOSING_MS = 5000;

/**
 * Address, TLS, credentials, node preference and keep-alive come from the connection string
 * (`esdb://host:2113?tls=false`, `kurrentdb://user:password@a:2113,b:2113,c:2113`, `kurrentdb+discover://...`), whose
 * scheme chooses the client. The server is first contacted by the first call.
 * @throws Error when the connection string can't be used
 */
export async function openEventStoreDb(
  connectionString: string,
  options: EventStoreDbOptions = {},
): Promise<EventStore> {
  const { timeoutMs = 5000, silenceMs = 30_000, inFlight = 64 } = options;
  const backoff = { sleep: pause, random: options.random ?? Math.random };
  const driver = await openDriver(connectionString);
  return new EventStoreDbStore(driver, { timeoutMs, silenceMs, inFlight, backoff });
}

class EventStoreDbStore implements EventStore {
  readonly #driver: Driver;
  readonly #settings: Settings;
  readonly #slots: Slots;
  /** So that a scan of slugs, each a read of a stream that is not there, can't flood the server. */
  readonly #readSlots: Slots;
  readonly #closing = new AbortController();

  constructor(driver: Driver, settings: Settings) {
    this.#driver = driver;
    this.#settings = settings;
    this.#slots = new Slots(settings.inFlight);
    this.#readSlots = new Slots(settings.inFlight);
  }

  async append(stream: string, expected: ExpectedRevision, events: NewEvents): Promise<AppendResult> {
    this.#refuseWhenClosed();
    const deps = { driver: this.#driver, ...this.#settings };
    return this.#slots.run(() => append(deps, stream, expected, events));
  }

  async read(stream: string, options: ReadOptions = {}): Promise<RecordedEvent[]> {
    const { timeoutMs } = this.#settings;
    return this.#readSlots.run(() =>
      this.#withRetries(() => readStream(this.#driver, stream, options, timeoutMs)),
    );
  }

  async readAll(options: ReadAllOptions): Promise<RecordedEvent[]> {
    return this.#withRetries(() => readPrefixes(this.#driver, options));
  }

  async *subscribe(options: SubscribeOptions): AsyncGenerator<RecordedEvent[]> {
    const signal = AbortSignal.any([options.signal, this.#closing.signal]);
    const { after, prefixes, batchSize = 500 } = options;
    if (prefixes.length === 0) return await untilAborted(signal);
    const deps = { driver: this.#driver, ...this.#settings };
    yield* subscribeForEver(deps, { after, prefixes, signal, batchSize });
  }

  async head(): Promise<Position | undefined> {
    return this.#withRetries(() => readHead(this.#driver, this.#settings.timeoutMs));
  }

  async versions(): Promise<StoreVersions> {
    const driver = this.#driver;
    const { timeoutMs } = this.#settings;
    const server = await this.#withRetries(() =>
      within(timeoutMs, "a request for its version", driver.serverVersion()),
    );
    return { client: driver.client, server };
  }

  /** Subscriptions end and appends in flight are finished first, for at most five seconds. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    await within(CLOSING_MS, "the last appends", this.#slots.idle()).catch(() => {});
    await within(CLOSING_MS, "closing", this.#driver.close()).catch(() => {});
  }

  async #withRetries<T>(work: () => Promise<T>): Promise<T> {
    this.#refuseWhenClosed();
    return withRetries(this.#settings.backoff, work);
  }

  #refuseWhenClosed(): void {
    if (this.#closing.signal.aborted) throw new StoreUnavailable("The event store is closed");
  }
}
