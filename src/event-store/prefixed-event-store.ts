// A part of an event store for one service: the names of its streams begin with a prefix that nobody sees but the store.
import { type EventStore, type RecordedEvent, RevisionConflict } from "./port.ts";

/** The store itself when the prefix is empty. */
export function prefixedEventStore(store: EventStore, prefix: string): EventStore {
  if (prefix === "") return store;
  const inside = (name: string) => `${prefix}${name}`;
  const outside = (event: RecordedEvent) => ({ ...event, stream: event.stream.slice(prefix.length) });
  return {
    async append(stream, expected, events) {
      try {
        return await store.append(inside(stream), expected, events);
      } catch (error) {
        if (!(error instanceof RevisionConflict)) throw error;
        throw new RevisionConflict(stream, error.expected, error.actual);
      }
    },
    read: async (stream, options) => (await store.read(inside(stream), options)).map(outside),
    readAll: async (options) =>
      (await store.readAll({ ...options, prefixes: options.prefixes.map(inside) })).map(outside),
    async *subscribe(options) {
      for await (const batch of store.subscribe({ ...options, prefixes: options.prefixes.map(inside) }))
        yield batch.map(outside);
    },
    head: () => store.head(),
    close: () => store.close(),
  };
}
