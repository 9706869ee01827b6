// The shared link cache as the redirect sees it: never an error, never a wait for a write, no outdating forgotten.
import { CoordinationUnavailable } from "../coordination/errors.ts";
import type { LinkCache } from "./link-cache.ts";
import type { LinkFacts } from "./link-entry.ts";

export type SharedLinks = {
  /** Undefined also while the cache is away. */
  get(key: string): Promise<LinkFacts | undefined>;
  put(key: string, link: LinkFacts): void;
  /** Tried until the cache has taken it: what it keeps through an outage must not come back as true. */
  outdate(key: string, revision: number): void;
};

export type SharedLinksDeps = { cache: LinkCache; sleep: (ms: number) => Promise<void>; signal: AbortSignal };

/** Beyond that, entries that were missed are only bounded by their own time to live. */
const MOST_PENDING = 50_000;
const RETRY_EVERY_MS = 500;

export function sharedLinks({ cache, sleep, signal }: SharedLinksDeps): SharedLinks {
  const pending = new Map<string, number>();
  let flushing = false;
  const flush = async () => {
    flushing = true;
    while (pending.size > 0 && !signal.aborted) {
      for (const [key, revision] of pending) {
        try {
          await cache.outdate(key, revision);
        } catch {
          break;
        }
        if (pending.get(key) === revision) pending.delete(key);
      }
      if (pending.size > 0 && !signal.aborted) await sleep(RETRY_EVERY_MS);
    }
    flushing = false;
  };
  return {
    async get(key) {
      try {
        return await cache.get(key);
      } catch (error) {
        if (error instanceof CoordinationUnavailable) return undefined;
        throw error;
      }
    },
    put(key, link) {
      cache.put(key, link).catch(() => undefined);
    },
    outdate(key, revision) {
      if ((pending.get(key) ?? -1) >= revision) return;
      if (pending.size >= MOST_PENDING) pending.delete(pending.keys().next().value ?? "");
      pending.set(key, revision);
      if (!flushing) void flush();
    },
  };
}
