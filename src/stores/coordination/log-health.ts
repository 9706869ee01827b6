// Whether the log and the secrets can be written, and the log read, as the last requests of this process found it: for
// readiness, metrics and the operator's log, which gets one line an outage, with what to do.

import type { BasicLogger } from "../../runtime/logging.ts";
import { StoreFailed, StoreUnavailable, whatToDo } from "../connections/errors.ts";
import type { EventStore } from "../event-store/port.ts";
import type { Secrets } from "../secrets/port.ts";

/** `clicks`: the recorder, which tries again by itself; `requests`: everything else that is appended to the log. */
export type LogWriter = "clicks" | "requests" | "secrets";

export type LogHealth = {
  notWritten(by: LogWriter, error: unknown): void;
  written(by: LogWriter): void;
  /** The log was read as a whole, not only a stream of it. */
  read(): void;
  /** Whether this process has read the log as a whole, ever. */
  wasRead(): boolean;
  /** Keeps lasting failures only: the others are over when somebody reads again. */
  notRead(error: unknown): void;
  /** Why the log can't be written, why a part of it can't be read, and why secrets can't be written. */
  problems(): { write?: string; read?: string; secrets?: string };
};

export type LogHealthDeps = { log: Pick<BasicLogger, "info" | "error">; now: () => number };

/** A failure to read is named so long after it was last met: what is read may never be asked for again. */
const NAMED_MS = 600_000;

export function logHealth({ log, now }: LogHealthDeps): LogHealth {
  const failing = new Map<LogWriter, string>();
  let wasRead = false;
  let reading: { reason: string; at: number } | undefined;
  const unread = () => (reading && now() - reading.at < NAMED_MS ? reading.reason : undefined);
  return {
    notWritten(by, error) {
      const reason = `can't be written: ${whatToDo(error)}`;
      if (failing.size === 0) log.error({ outage: error }, `${writtenBy(by)} ${reason}`);
      failing.set(by, reason);
    },
    written(by) {
      if (failing.size === 0) return;
      const isOver = failing.delete(by);
      // Requests may not come again.
      const isOverForRequests = by === "clicks" && failing.delete("requests");
      const isLogWell = !failing.has("clicks") && !failing.has("requests");
      // What stopped the log, such as a full disk, stopped the secrets too, which may not be written for long.
      if (isLogWell && by !== "secrets" && (isOver || isOverForRequests)) failing.clear();
      if (failing.size === 0) log.info(`${writtenBy(by)} is written again`);
    },
    read() {
      wasRead = true;
    },
    wasRead: () => wasRead,
    notRead(error) {
      if (!(error instanceof StoreFailed)) return;
      const reason = `can't be read: ${error.message}`;
      if (unread() !== reason)
        log.error({ err: error }, `A part of the log ${reason}; it lasts until somebody acts`);
      reading = { reason, at: now() };
    },
    problems() {
      const write = failing.get("clicks") ?? failing.get("requests");
      const secrets = failing.get("secrets");
      const read = unread();
      return { ...(write && { write }), ...(read && { read }), ...(secrets && { secrets }) };
    },
  };
}

/** The store, which tells `health` how its calls end. */
export function watchedEventStore(store: EventStore, health: LogHealth): EventStore {
  const watched = async <T>(reading: Promise<T>): Promise<T> => {
    try {
      return await reading;
    } catch (error) {
      health.notRead(error);
      throw error;
    }
  };
  const whole = async <T>(reading: Promise<T>): Promise<T> => {
    const result = await watched(reading);
    health.read();
    return result;
  };
  async function* followed<P>(pages: AsyncIterable<P>): AsyncGenerator<P> {
    try {
      yield* pages;
    } catch (error) {
      health.notRead(error);
      throw error;
    }
  }
  return {
    ...store,
    async append(...request) {
      try {
        const result = await store.append(...request);
        health.written("requests");
        return result;
      } catch (error) {
        if (error instanceof StoreUnavailable) health.notWritten("requests", error);
        throw error;
      }
    },
    read: (...request) => watched(store.read(...request)),
    readAll: (options) => whole(store.readAll(options)),
    readStored: (options) => whole(store.readStored(options)),
    idAt: (position) => watched(store.idAt(position)),
    structureProblems: (categories) => watched(store.structureProblems(categories)),
    subscribe: (options) => followed(store.subscribe(options)),
    subscribeAsRead: (options) => followed(store.subscribeAsRead(options)),
    head: () => whole(store.head()),
  };
}

/** The secrets, which tell `health` how their writes end. */
export function watchedSecrets<S extends Secrets>(secrets: S, health: LogHealth): S {
  const watched =
    <A extends unknown[], T>(write: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      try {
        const result = await write(...args);
        health.written("secrets");
        return result;
      } catch (error) {
        if (error instanceof StoreUnavailable) health.notWritten("secrets", error);
        throw error;
      }
    };
  const { put, putIfAbsent, putIfPresent } = secrets;
  return {
    ...secrets,
    put: watched(put),
    putIfAbsent: watched(putIfAbsent),
    putIfPresent: watched(putIfPresent),
  };
}

function writtenBy(writer: LogWriter): string {
  return writer === "secrets" ? "The store of secrets" : "The log";
}
