// The log behind its beginning: what the event store held before it, which is nothing of ours, is never read.
import { type EventStore, type Position, START } from "./port.ts";

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
