// An event store that tells the other processes at once what an append has overtaken, whoever appended it.
import type { AppendResult, EventStore, NewEvent } from "../event-store/port.ts";
import { PREFIX } from "../events/streams.ts";
import type { LinkCache } from "../redirect/link-cache.ts";
import type { CacheNews, CacheNewsChannel } from "./cache-news.ts";

export type AnnouncingDeps = {
  eventStore: EventStore;
  cacheNews: CacheNewsChannel;
  linkCache: LinkCache | undefined;
};

/**
 * The answer waits for the news, so that what a caller was told is true elsewhere too; news that can't be told is no
 * failure, because every process also follows the events themselves.
 */
export function announcingEventStore({ eventStore, cacheNews, linkCache }: AnnouncingDeps): EventStore {
  const tell = async (news: CacheNews) => {
    const told: Promise<void>[] = [cacheNews.announce(news)];
    // Nothing can be older than a link's first event.
    if (linkCache && news.topic === "link" && news.revision > 0)
      told.push(linkCache.outdate(news.id, news.revision));
    await Promise.allSettled(told);
  };
  return {
    async append(stream, expected, events) {
      const result = await eventStore.append(stream, expected, events);
      for (const news of newsOf(stream, events, result)) await tell(news);
      return result;
    },
    read: (stream, options) => eventStore.read(stream, options),
    readAll: (options) => eventStore.readAll(options),
    subscribe: (options) => eventStore.subscribe(options),
    head: () => eventStore.head(),
    close: () => eventStore.close(),
  };
}

function newsOf(stream: string, events: readonly NewEvent[], appended: AppendResult): CacheNews[] {
  if (stream.startsWith(PREFIX.link))
    return [{ topic: "link", id: stream.slice(PREFIX.link.length), ...appended }];
  if (!stream.startsWith(PREFIX.account)) return [];
  return events.flatMap(({ type, data }): CacheNews[] => {
    const { hostname, keyId } = data as { hostname?: string; keyId?: string };
    if (type === "KeyDeactivated" && keyId) return [{ topic: "key", id: keyId, ...appended }];
    const stopped = type === "DomainDeactivated" || type === "DomainRemoved";
    return stopped && hostname ? [{ topic: "domain", id: hostname, ...appended }] : [];
  });
}
