// Cache news within one process.
import type { CacheNewsChannel, NewsListener } from "./cache-news.ts";

export function memoryCacheNews(): CacheNewsChannel {
  const listeners = new Set<NewsListener>();
  return {
    async announce(news) {
      for (const listener of listeners) listener.onNews(news);
    },
    listen(listener) {
      const own = { ...listener };
      listeners.add(own);
      own.onGap();
      return async () => void listeners.delete(own);
    },
  };
}
