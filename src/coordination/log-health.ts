// Whether the log can be written and read, as the last requests of this process found it: for readiness, metrics and the
// operator's log, which gets one line an outage, with what to do.
import { StoreFailed, StoreUnavailable } from "../connections/errors.ts";
import type { EventStore } from "../event-store/port.ts";
import { errorFields } from "../runtime/error-fields.ts";
import type { BasicLogger } from "../runtime/logging.ts";

/** `clicks`: the recorder, which tries again by itself; `requests`: everything else. */
export type LogWriter = "clicks" | "requests";

export type LogHealth = {
  notWritten(by: LogWriter, error: unknown): void;
  written(by: LogWriter): void;
  /** Keeps lasting failures only: the others are over when somebody reads again. */
  notRead(error: unknown): void;
  /** Why the log can't be written, and why a part of it can't be read. */
  problems(): { write?: string; read?: string };
};

export type LogHealthDeps = { log: Pick<BasicLogger, "info" | "error">; now: () => number };

/** A failure to read is named so long after it was last met: what is read may never be asked for again. */
const NAMED_MS = 600_000;

export function logHealth({ log, now }: LogHealthDeps): LogHealth {
  const failing = new Map<LogWriter, string>();
  let reading: { reason: string; at: number } | undefined;
  const unread = () => (reading && now() - reading.at < NAMED_MS ? reading.reason : undefined);
  return {
    notWritten(by, error) {
      const reason = `can't be written: ${whatToDo(error)}`;
      if (failing.size === 0) log.error({ err: error }, `The log ${reason}`);
      failing.set(by, reason);
    },
    written(by) {
      if (failing.size === 0) return;
      failing.delete(by);
      // Requests may not come again.
      if (by === "clicks") failing.delete("requests");
      if (failing.size === 0) log.info("The log is written again");
    },
    notRead(error) {
      if (!(error instanceof StoreFailed)) return;
      const reason = `can't be read: ${error.message}`;
      if (unread() !== reason)
        log.error({ err: error }, `A part of the log ${reason}; it lasts until somebody acts`);
      reading = { reason, at: now() };
    },
    problems() {
      const [write] = failing.values();
      const read = unread();
      return { ...(write && { write }), ...(read && { read }) };
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
  return {
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
    readAll: (options) => watched(store.readAll(options)),
    async *subscribe(options) {
      try {
        yield* store.subscribe(options);
      } catch (error) {
        health.notRead(error);
        throw error;
      }
    },
    head: () => watched(store.head()),
    ...(store.newestOf && { newestOf: store.newestOf.bind(store) }),
    close: () => store.close(),
  };
}

/** SQLite's words and the system's, as they come from another thread. */
function whatToDo(error: unknown): string {
  const { message } = errorFields(error);
  if (/database or disk is full/.test(message))
    return "the disk is full (SQLITE_FULL): free some space while the service runs, it goes on by itself";
  if (/ENOSPC|no space left/i.test(message))
    return "the disk is full (ENOSPC): free some space while the service runs, it goes on by itself";
  if (/readonly database|EROFS|EACCES/.test(message))
    return "its file is read-only (SQLITE_READONLY): give the service's user the right to write DATA_DIR";
  return message;
}
