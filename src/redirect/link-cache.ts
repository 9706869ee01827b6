// The cache of links that all processes share, between each one's own memory and the read store.
import type { LinkFacts } from "./link-entry.ts";

export interface LinkCache {
  /** By link key. @throws CoordinationUnavailable */
  get(key: string): Promise<LinkFacts | undefined>;
  /** Ignored when a newer revision is there, or known to be. @throws CoordinationUnavailable */
  put(key: string, link: LinkFacts): Promise<void>;
  /** What is older than `revision` is dropped, and not taken again. @throws CoordinationUnavailable */
  outdate(key: string, revision: number): Promise<void>;
}
