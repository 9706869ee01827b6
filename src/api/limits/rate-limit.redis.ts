// Rate windows that all processes share, on Redis: one atomic round trip a request.
import type { RedisConnection } from "../../connections/redis.ts";
import { type RateLimits, type RateWindow, WINDOW_MS } from "./rate-limit.ts";

// The caller's clock says when a window ends; Redis only forgets it some time later.
const TAKE = `
  local window = redis.call('HMGET', KEYS[1], 'used', 'resetAt')
  local used = tonumber(window[1] or '0')
  local resetAt = window[2]
  if not resetAt or tonumber(resetAt) <= tonumber(ARGV[2]) then
    used = 0
    resetAt = ARGV[3]
  end
  if used >= tonumber(ARGV[1]) then return { 0, used, resetAt } end
  redis.call('HSET', KEYS[1], 'used', used + 1, 'resetAt', resetAt)
  if used == 0 then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
  return { 1, used + 1, resetAt }`;

const FORGET_AFTER_MS = WINDOW_MS + 60_000;

/**
 * `hide`: what a subject is called in Redis, as it may hold an address. @throws CoordinationUnavailable from both methods
 */
export function redisRateLimits(redis: RedisConnection, hide: (subject: string) => string): RateLimits {
  const take = redis.script("takeRequest", 1, TAKE);
  const name = (subject: string) => redis.key(`rate:${hide(subject)}`);
  return {
    async take(subject, limit, now) {
      const at = now.getTime();
      const answer = await take(name(subject), limit, at, at + WINDOW_MS, FORGET_AFTER_MS);
      const [granted, used, resetAt] = answer as [number, number, string];
      return { granted: granted === 1, used, resetAt: Number(resetAt) };
    },
    async look(subject, limit, now): Promise<RateWindow> {
      const [used, resetAt] = await redis.run((client) => client.hmget(name(subject), "used", "resetAt"));
      if (!resetAt || Number(resetAt) <= now.getTime()) {
        return { granted: limit > 0, used: 0, resetAt: now.getTime() + WINDOW_MS };
      }
      return { granted: Number(used) < limit, used: Number(used), resetAt: Number(resetAt) };
    },
  };
}
