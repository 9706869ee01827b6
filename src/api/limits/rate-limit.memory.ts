// Rate windows in memory: one LRU cache per kind of subject, whose entries expire with their window.
import { LRUCache } from "lru-cache";
import { atMost } from "../../runtime/at-most.ts";
import { type RateLimits, type RateWindow, WINDOW_MS } from "./rate-limit.ts";

/** Per kind; about 20 MB. */
const MOST_SUBJECTS = 100_000;

type Hour = { used: number; resetAt: number };

/** A window ends an hour after its first request also where the clock is set back: the cache goes by a monotonic one. */
export function memoryRateLimits(most = MOST_SUBJECTS): RateLimits {
  const newHours = () =>
    new LRUCache<string, Hour>({ ...atMost(most), ttl: WINDOW_MS, ttlResolution: 0, noUpdateTTL: true });
  // Bounded, because kinds are constants in the code; only ids come from requests.
  const byKind = new Map<string, ReturnType<typeof newHours>>();
  const hoursOf = (subject: string) => {
    const kind = subject.slice(0, subject.indexOf(" "));
    const hours = byKind.get(kind) ?? newHours();
    byKind.set(kind, hours);
    return hours;
  };
  const current = (subject: string, now: number): Hour => {
    const hour = hoursOf(subject).get(subject);
    const latest = now + WINDOW_MS;
    if (!hour || hour.resetAt <= now) return { used: 0, resetAt: latest };
    return { used: hour.used, resetAt: Math.min(hour.resetAt, latest) };
  };
  const answer = (hour: Hour, granted: boolean): RateWindow => ({ granted, ...hour });
  return {
    async take(subject, limit, now) {
      const hour = current(subject, now.getTime());
      if (hour.used >= limit) return answer(hour, false);
      const next = { ...hour, used: hour.used + 1 };
      const hours = hoursOf(subject);
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
