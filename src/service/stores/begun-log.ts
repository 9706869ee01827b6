// The log of a deployment behind its beginning: what the event store held before it, which is nothing of ours, is never read.
// The beginning is read once, and noted by `begin` alone: by then it is known that what is kept beside the log is not of
// another one.
import { beginLog, beginningOf, type LogBeginning } from "../../commands/begin-log.ts";
import { runtimeDeps } from "../../commands/runtime-deps.ts";
import { StoreUnavailable } from "../../stores/connections/errors.ts";
import { type EventStore, type Position, START } from "../../stores/event-store/port.ts";

export type BegunLog = {
  /** Unavailable as a whole until the log has begun, unless it is only read; streams can be read. */
  eventStore(): Promise<EventStore>;
  /** Undefined of a log that has not begun. @throws what the store throws */
  beginning(): Promise<LogBeginning | undefined>;
  /** @throws StoreUnavailable while the log has not begun; what the store throws */
  required(): Promise<LogBeginning>;
  /** @throws streams_of_others; what the store throws */
  begin(): Promise<LogBeginning>;
};

export function begunLog(openLog: () => Promise<EventStore>, { readOnly = false } = {}): BegunLog {
  let begun: LogBeginning | undefined;
  let opening: Promise<EventStore> | undefined;
  const whole = () => {
    opening ??= openLog();
    return opening;
  };
  const beginning = async () => {
    begun ??= await beginningOf(await whole());
    return begun;
  };
  const required = async () => {
    const log = await beginning();
    if (!log) throw new StoreUnavailable("The log has not begun yet");
    return log;
  };
  return {
    eventStore: async () => begunEventStore(await whole(), readOnly ? beginning : required),
    beginning,
    required,
    async begin() {
      begun ??= await beginLog({ ...runtimeDeps, eventStore: await whole() });
      return begun;
    },
  };
}

/**
 * `beginning`: behind which position the log is read. It is asked before whatever reads or writes the log as a whole, which
 * throws what it throws, as while the log has not begun.
 */
export function begunEventStore(
  store: EventStore,
  beginning: () => Promise<{ after: Position } | undefined>,
): EventStore {
  const behind = async <T extends { after?: Position | undefined }>(options: T): Promise<T> => {
    const begun = await beginning();
    return begun && options.after === START ? { ...options, after: begun.after } : options;
  };
  return {
    ...store,
    async append(...request) {
      await beginning();
      return await store.append(...request);
    },
    readAll: async (options) => await store.readAll(await behind(options)),
    readStored: async (options) => await store.readStored(await behind(options)),
    async *subscribe(options) {
      yield* store.subscribe(await behind(options));
    },
    async *subscribeAsRead(options) {
      yield* store.subscribeAsRead(await behind(options));
    },
  };
}
