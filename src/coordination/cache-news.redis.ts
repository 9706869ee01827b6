// Cache news through Redis pub/sub, on a connection that subscribes anew after every break.
import type { RedisConnection } from "../redis/connection.ts";
import type { CacheNews, CacheNewsChannel } from "./cache-news.ts";

export function redisCacheNews(redis: RedisConnection): CacheNewsChannel {
  const channel = redis.key("cache-news");
  return {
    announce: (news) => redis.publish(channel, JSON.stringify(news)),
    listen({ onNews, onGap }) {
      return redis.listen(channel, {
        onSubscribed: onGap,
        onMessage: (text) => {
          const news = readNews(text);
          if (news) onNews(news);
        },
      });
    },
  };
}

/** Other versions of the service may say what this one does not know. */
function readNews(text: string): CacheNews | undefined {
  try {
    const { topic, id, revision, position } = JSON.parse(text) as Partial<CacheNews>;
    const known = topic === "link" || topic === "domain" || topic === "key";
    return known && typeof id === "string" && typeof revision === "number" && typeof position === "string"
      ? { topic, id, revision, position }
      : undefined;
  } catch {
    return undefined;
  }
}
