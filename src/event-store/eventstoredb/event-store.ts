// The event store of production: EventStoreDB through db-client 6.2.1, whose faults end in this folder.
import type { EventStoreDBClient } from "@eventstore/db-client";
import { pause } from "../../runtime/pause.ts";
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
} from "../port.ts";
import { append } from "./append.ts";
import { connect, disconnect, greet } from "./client.ts";
import { type Backoff, withRetries } from "./errors.ts";
import { within } from "./pull.ts";
import { readHead, readPrefixes, readStream } from "./read.ts";
import { Slots } from "./slots.ts";
import { subscribeForEver } from "./subscription.ts";

export type EventStoreDbOptions = {
  /** Milliseconds an append, or a read between two events, may stay silent; default 5000. */
  timeoutMs?: number;
  /** Milliseconds a search through other programs' events may take without a match; default 60,000. */
  searchMs?: number;
  /** Milliseconds without a sign of life before a subscription is checked against the log; default 30,000. */
  silenceMs?: number;
  /** Most appends, and as many reads of streams, in flight at once; default 64. Others wait in order. */
  inFlight?: number;
  /** False: don't ask for the server before the first request; default true. */
  greet?: boolean;
  random?: () => number;
};

type Settings = Required<Omit<EventStoreDbOptions, "greet" | "random">> & { backoff: Backoff };

/** Milliseconds a polite goodbye may take. */
const CLOSING_MS = 5000;

/**
 * Address, TLS, credentials, node preference and keep-alive come from the connection string
 * (`esdb://host:2113?tls=false`, `esdb://user:password@a:2113,b:2113,c:2113?nodePreference=leader`,
 * `esdb+discover://...`).
 * @throws StoreUnavailable when no server answers; Error when the connection string can't be used
 */
export async function openEventStoreDb(
  connectionString: string,
  options: EventStoreDbOptions = {},
): Promise<EventStore> {
  const { timeoutMs = 5000, searchMs = 60_000, silenceMs = 30_000, inFlight = 64 } = options;
  const backoff = { sleep: pause, random: options.random ?? Math.random };
  const client = connect(connectionString);
  const store = new EventStoreDbStore(client, { timeoutMs, searchMs, silenceMs, inFlight, backoff });
  if (options.greet ?? true) await store.greet();
  return store;
}

class EventStoreDbStore implements EventStore {
  readonly #client: EventStoreDBClient;
  readonly #settings: Settings;
  readonly #slots: Slots;
  /** So that a scan of slugs, each a read of a stream that is not there, can't flood the server. */
  readonly #readSlots: Slots;
  readonly #closing = new AbortController();

  constructor(client: EventStoreDBClient, settings: Settings) {
    this.#client = client;
    this.#settings = settings;
    this.#slots = new Slots(settings.inFlight);
    this.#readSlots = new Slots(settings.inFlight);
  }

  async greet(): Promise<void> {
    try {
      await this.#ask(() => within(this.#settings.timeoutMs, "a greeting", greet(this.#client)));
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<AppendResult> {
    this.#refuseWhenClosed();
    const { timeoutMs, backoff } = this.#settings;
    const deps = { client: this.#client, timeoutMs, backoff };
    return this.#slots.run(() => append(deps, stream, expected, events));
  }

  async read(stream: string, options: ReadOptions = {}): Promise<RecordedEvent[]> {
    const { timeoutMs } = this.#settings;
    return this.#readSlots.run(() => this.#ask(() => readStream(this.#client, stream, options, timeoutMs)));
  }

  async readAll(options: ReadAllOptions): Promise<RecordedEvent[]> {
    return this.#ask(() => readPrefixes(this.#client, options, this.#settings.searchMs));
  }

  async *subscribe(options: SubscribeOptions): AsyncGenerator<RecordedEvent[]> {
    const signal = AbortSignal.any([options.signal, this.#closing.signal]);
    const { after, prefixes, batchSize = 500 } = options;
    if (prefixes.length === 0) return await aborted(signal);
    const deps = { client: this.#client, ...this.#settings };
    yield* subscribeForEver(deps, { after, prefixes, signal, batchSize });
  }

  async head(): Promise<Position | undefined> {
    return this.#ask(() => readHead(this.#client, this.#settings.timeoutMs));
  }

  /** Subscriptions end and appends under way are finished first, for at most five seconds. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    await within(CLOSING_MS, "the last appends", this.#slots.idle()).catch(() => {});
    await within(CLOSING_MS, "closing", disconnect(this.#client)).catch(() => {});
  }

  async #ask<T>(work: () => Promise<T>): Promise<T> {
    this.#refuseWhenClosed();
    return withRetries(this.#settings.backoff, work);
  }

  #refuseWhenClosed(): void {
    if (this.#closing.signal.aborted) throw new StoreUnavailable("The event store is closed");
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener("abort", () => resolve());
  await promise;
}
