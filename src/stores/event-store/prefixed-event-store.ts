// Lets several services share an event store: adds a prefix to stream names on the way in and strips it on the way out.
import { type EventStore, RevisionConflict, type StoredText, StreamRemoved } from "./port.ts";

/** Returns `store` itself when the prefix is empty. */
export function prefixedEventStore(store: EventStore, prefix: string): EventStore {
  if (prefix === "") return store;
  const inside = (name: string) => `${prefix}${name}`;
  const isOwn = ({ stream }: { stream: string }) => stream.startsWith(prefix);
  const outside = <T extends { stream: string }>(event: T): T => ({
    ...event,
    stream: event.stream.slice(prefix.length),
  });
  return {
    append: (stream, ...request) => naming(stream, store.append(inside(stream), ...request)),
    read: async (stream, options) => (await naming(stream, store.read(inside(stream), options))).map(outside),
    readAll: async (options) =>
      (await store.readAll({ ...options, categories: options.categories.map(inside) })).map(outside),
    async readStored({ after, limit }) {
      const own: StoredText[] = [];
      for (let next = after; own.length < limit; ) {
        const page = await store.readStored({ after: next, limit });
        own.push(...page.filter(isOwn).map(outside));
        next = page.at(-1)?.position;
        if (page.length < limit) break;
      }
      return own.slice(0, limit);
    },
    structureProblems: async () =>
      (await store.structureProblems()).flatMap(({ stream, what }) => {
        if (stream === undefined) return [{ what }];
        return isOwn({ stream }) ? [outside({ what, stream })] : [];
      }),
    async *subscribe(options) {
      for await (const batch of store.subscribe({ ...options, categories: options.categories.map(inside) }))
        yield batch.map(outside);
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
