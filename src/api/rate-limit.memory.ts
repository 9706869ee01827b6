// Rate windows of one process: bounded by an LRU whose entries leave when their hour is over.
import { LRUCache } from "lru-cache";
import { type RateLimits, type RateWindow, WINDOW_MS } from "./rate-limit.ts";

const MOST_SUBJECTS = 100_000;

type Hour = { used: number; resetAt: number };

/** `clock` drives the expiry as well as the windows, so that a test can turn the hour. */
export function memoryRateLimits(clock: () => Date, most = MOST_SUBJECTS): RateLimits {
  const hours = new LRUCache<string, Hour>({
    max: most,
    ttl: WINDOW_MS,
    ttlResolution: 0,
    noUpdateTTL: true,
    perf: { now: () => clock().getTime() },
  });
  const current = (subject: string, now: number): Hour => {
    const hour = hours.get(subject);
    return hour && hour.resetAt > now ? hour : { used: 0, resetAt: now + WINDOW_MS };
  };
  const answer = (hour: Hour, granted: boolean): RateWindow => ({ granted, ...hour });
  return {
    async take(subject, limit, now) {
      const hour = current(subject, now.getTime());
      if (hour.used >= limit) return answer(hour, false);
      const next = { ...hour, used: hour.used + 1 };
      if (hour.used === 0) hours.delete(subject);
      hours.set(subject, next);
      return answer(next, true);
    },
    async look(subject, limit, now) {
      const hour = current(subject, now.getTime());
      return answer(hour, hour.used < limit);
    },
  };
}
