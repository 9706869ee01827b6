// Rate windows in Redis, shared by all processes: one atomic script per request.
import type { RedisConnection } from "../../stores/connections/redis.ts";
import { type RateLimits, WINDOW_MS } from "./rate-limit.ts";

// The caller's clock decides when a window ends; the Redis expiry frees the memory later, and ends the window where that
// clock was set back.
const TAKE = `
  local window = redis.call('HMGET', KEYS[1], 'used', 'resetAt')
  local used = tonumber(window[1] or '0')
  local resetAt = window[2]
  local requests = tonumber(ARGV[5])
  if not resetAt or tonumber(resetAt) <= tonumber(ARGV[2]) then
    used = 0
    resetAt = ARGV[3]
  elseif tonumber(resetAt) > tonumber(ARGV[3]) then
    resetAt = ARGV[3]
  end
  if requests < 0 then
    if used > 0 then used = redis.call('HINCRBY', KEYS[1], 'used', requests) end
    return { 1, used, resetAt }
  end
  if used >= tonumber(ARGV[1]) then return { 0, used, resetAt } end
  if requests == 0 then return { 1, used, resetAt } end
  redis.call('HSET', KEYS[1], 'used', used + requests, 'resetAt', resetAt)
  if used == 0 then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
  return { 1, used + requests, resetAt }`;

const EXPIRE_AFTER_MS = WINDOW_MS + 60_000;

/** `hide`: hashes a subject for its Redis key, as it may contain an IP address. `take` throws CoordinationUnavailable. */
export function redisRateLimits(redis: RedisConnection, hide: (subject: string) => string): RateLimits {
  const take = redis.script("takeRequest", 1, TAKE);
  return {
    async take(subject, limit, now, requests = 1) {
      const at = now.getTime();
      const key = redis.key(`rate:${hide(subject)}`);
      const answer = await take(key, limit, at, at + WINDOW_MS, EXPIRE_AFTER_MS, requests);
      const [granted, used, resetAt] = answer as [number, number, string];
      return { granted: granted === 1, used, resetAt: Number(resetAt) };
    },
  };
}
