// Rate windows in memory: all of them, or in place of shared ones (Redis, the primary's) while those are unavailable.
import { LRUCache } from "lru-cache";
import { atMost } from "../../runtime/at-most.ts";
import { CoordinationUnavailable } from "../../stores/connections/errors.ts";
import { type RateLimits, WINDOW_MS } from "./rate-limit.ts";

/** Per kind; about 20 MB. */
const MOST_SUBJECTS = 100_000;

type Hour = { used: number; resetAt: number };

/** A window ends an hour after its first request also where the clock is set back: the cache goes by a monotonic one. */
export function memoryRateLimits(most = MOST_SUBJECTS): RateLimits {
  const newHours = () =>
    new LRUCache<string, Hour>({ ...atMost(most), ttl: WINDOW_MS, ttlResolution: 0, noUpdateTTL: true });
  // Bounded, because kinds are constants in the code; only ids come from requests.
  const byKind = new Map<string, ReturnType<typeof newHours>>();
  return {
    async take(subject, limit, now, requests = 1) {
      const kind = subject.slice(0, subject.indexOf(" "));
      const hours = byKind.get(kind) ?? newHours();
      byKind.set(kind, hours);
      const latest = now.getTime() + WINDOW_MS;
      const found = hours.get(subject);
      const isOver = !found || found.resetAt <= now.getTime();
      const hour = isOver ? { used: 0, resetAt: latest } : found;
      const resetAt = Math.min(hour.resetAt, latest);
      const granted = hour.used < limit;
      const used = granted || requests < 0 ? Math.max(0, hour.used + requests) : hour.used;
      if (used !== hour.used) {
        if (hour.used === 0) hours.delete(subject);
        hours.set(subject, { used, resetAt });
      }
      return { granted, used, resetAt };
    },
  };
}

/**
 * Granted requests also count in the own windows, so that an outage does not reset a caller's window in this process.
 * During an outage each process counts for itself, so a caller may get up to the limit from each.
 */
export function withOwnLimits(shared: RateLimits, own: RateLimits): RateLimits {
  return {
    async take(subject, limit, now, requests) {
      const window = await shared.take(subject, limit, now, requests).catch((error: unknown) => {
        if (!(error instanceof CoordinationUnavailable)) throw error;
      });
      if (!window) return await own.take(subject, limit, now, requests);
      if (window.granted) await own.take(subject, limit, now, requests);
      return window;
    },
  };
}
