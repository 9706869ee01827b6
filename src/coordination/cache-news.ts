// How one process tells the others that what they keep in memory has been overtaken.
import type { Position } from "../event-store/port.ts";

/**
 * `link`: what is older than this revision of the link key `id` is no longer true. `domain`: the hostname `id` has
 * stopped serving its account. `key`: the key id `id` was deactivated. `revision` and `position`: of the event that
 * says so.
 */
export type CacheNews = {
  topic: "link" | "domain" | "key";
  id: string;
  revision: number;
  position: Position;
};

export type NewsListener = {
  onNews(news: CacheNews): void;
  /** Listening has begun, or begun again after a break: anything may have been missed before. */
  onGap(): void;
};

/** At most once: who must not miss anything follows the event store; this is only faster. */
export interface CacheNewsChannel {
  /** To every listener of every process, this one's too. @throws CoordinationUnavailable */
  announce(news: CacheNews): Promise<void>;
  /** Until the answered function is called; begins, and begins again, by itself when the channel is there. */
  listen(listener: NewsListener): () => Promise<void>;
}
