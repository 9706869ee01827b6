// Lets several services share an event store: adds a prefix to stream names on the way in and strips it on the way out.
import { type EventStore, type LogPage, RevisionConflict, StreamRemoved } from "./port.ts";

/** Returns `store` itself when the prefix is empty. */
export function prefixedEventStore(store: EventStore, prefix: string): EventStore {
  if (prefix === "") return store;
  const inside = (name: string) => `${prefix}${name}`;
  const outside = <T extends { stream: string }>(event: T): T => ({
    ...event,
    stream: event.stream.slice(prefix.length),
  });
  const prefixed = <O extends { categories: readonly string[] }>(options: O): O => ({
    ...options,
    categories: options.categories.map(inside),
  });
  const pageOutside = <E extends { stream: string }>({ events, next }: LogPage<E>): LogPage<E> => ({
    events: events.map(outside),
    next,
  });
  return {
    append: (stream, ...request) => naming(stream, store.append(inside(stream), ...request)),
    read: async (stream, options) => (await naming(stream, store.read(inside(stream), options))).map(outside),
    readAll: async (options) => pageOutside(await store.readAll(prefixed(options))),
    readStored: async (options) => pageOutside(await store.readStored(prefixed(options))),
    idAt: (position) => store.idAt(position),
    structureProblems: async (categories) =>
      (await store.structureProblems(categories.map(inside))).map(({ stream, what }) =>
        stream === undefined ? { what } : outside({ what, stream }),
      ),
    async *subscribe(options) {
      for await (const page of store.subscribe(prefixed(options))) yield pageOutside(page);
    },
    async *subscribeAsRead(options) {
      for await (const page of store.subscribeAsRead(prefixed(options)))
        yield { ...pageOutside(page), texts: () => page.texts().map(outside) };
    },
    head: () => store.head(),
    close: () => store.close(),
  };
}

/** Errors that name a stream name it as the caller did. */
async function naming<T>(stream: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RevisionConflict) throw new RevisionConflict(stream, error.expected, error.actual);
    if (error instanceof StreamRemoved) throw new StreamRemoved(stream, error.what);
    throw error;
  }
}
