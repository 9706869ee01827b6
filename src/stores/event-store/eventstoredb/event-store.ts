// The event store of servers: EventStoreDB, or KurrentDB, its present name; the faults of their client end in this folder.
import type { EventStoreDBClient } from "@eventstore/db-client";
import pLimit from "p-limit";
import { inTime, untilAborted } from "../../../runtime/pause.ts";
import { StoreUnavailable } from "../../connections/errors.ts";
import type { AppendResult, EventStore, PageAsRead, SubscribeOptions } from "../port.ts";
import { append } from "./append.ts";
import { Servers } from "./connection.ts";
import { type Deps, READ_LOG, type Right, withRetries } from "./errors.ts";
import { readHead, readIdAt, readPage, selectedAfter, subscribeForEver } from "./read.ts";
import { readWholeStream, structureProblems } from "./removed-streams.ts";
import { textsOf } from "./selections.ts";

export type EventStoreDbOptions = Partial<Pick<Deps, "timeoutMs" | "silenceMs" | "random">> & {
  /** Most appends, and as many reads of streams, in flight at once; default 64. Others wait in order. */
  inFlight?: number;
};

/** Milliseconds that appends in flight, and then the end of other calls, may take. */
const CLOSING_MS = 5_000;

/**
 * Addresses, TLS, credentials and keep-alive come from the connection string (`esdb://host:2113?tls=false`,
 * `kurrentdb://user:password@a:2113,b:2113,c:2113`). The server is first contacted by the first call.
 * @throws Error when the connection string can't be used
 */
export async function openEventStoreDb(
  connectionString: string,
  { timeoutMs = 5_000, silenceMs = 30_000, inFlight = 64, random = Math.random }: EventStoreDbOptions = {},
): Promise<EventStore> {
  const servers = new Servers(connectionString);
  const deps: Deps = { servers, random, timeoutMs, silenceMs };
  const closing = new AbortController();
  const appends = new Set<Promise<AppendResult>>();
  const appending = bounded(inFlight);
  // So that a scan of slugs, each a read of a stream that is not there, can't flood the server.
  const reading = bounded(inFlight);
  const whileOpen = async <T>(work: () => Promise<T>) => {
    if (closing.signal.aborted) throw new StoreUnavailable("The event store is closed");
    return await work();
  };
  const retried = <T>(right: Right, work: (client: EventStoreDBClient) => Promise<T>) =>
    whileOpen(() => withRetries(deps, right, work));
  const ofLog = <T>(work: (client: EventStoreDBClient) => Promise<T>) => retried(READ_LOG, work);
  async function* subscribeAsRead(options: SubscribeOptions): AsyncGenerator<PageAsRead> {
    const signal = AbortSignal.any([options.signal, closing.signal]);
    if (options.categories.length === 0) return await untilAborted(signal);
    yield* subscribeForEver(deps, { ...options, signal });
  }
  return {
    append: (stream, expected, events) =>
      whileOpen(async () => {
        const appended = appending(() => append(deps, stream, expected, events));
        appends.add(appended);
        return await appended.finally(() => appends.delete(appended));
      }),
    read: (stream, options = {}) =>
      reading(() =>
        retried({ may: "read", stream }, (client) => readWholeStream(client, stream, options, timeoutMs)),
      ),
    readAll: (options) => ofLog((client) => readPage(client, options, silenceMs)),
    readStored: ({ after, categories, limit }) =>
      ofLog((client) => selectedAfter(client, textsOf(categories), { after, limit, idleMs: silenceMs })),
    idAt: (position) => ofLog((client) => readIdAt(client, position, timeoutMs)),
    structureProblems: (categories) => ofLog((client) => structureProblems(client, categories, silenceMs)),
    subscribe: subscribeAsRead,
    subscribeAsRead,
    head: () => ofLog((client) => readHead(client, timeoutMs)),
    /** Subscriptions end and appends in flight are finished first, for at most five seconds. */
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      await inTime(CLOSING_MS, Promise.allSettled(appends));
      await inTime(CLOSING_MS, servers.close()).catch(() => {});
    },
  };
}

/**
 * Runs so many at once, first come first served. When one finds the store unavailable, all that wait fail with it: behind
 * a server that doesn't answer each would wait longer than the one before.
 */
function bounded(size: number) {
  const limit = pLimit({ concurrency: size, rejectOnClear: true });
  return async <T>(work: () => Promise<T>): Promise<T> => {
    const clearing = async () => {
      try {
        return await work();
      } catch (error) {
        if (error instanceof StoreUnavailable) limit.clearQueue();
        throw error;
      }
    };
    return await limit(clearing).catch((error: unknown) => {
      if (!(error instanceof DOMException)) throw error;
      throw new StoreUnavailable("The event store can't be reached", { cause: error });
    });
  };
}
