// Counts in Redis: one atomic script a step.
import type { RedisConnection } from "../connections/redis.ts";
import type { Counts } from "./counts.ts";

// What `counted` and `hasChanged` do (counts.ts). The expiry frees the memory some time after the count has ended.
const COUNT = `
  local now, add, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  local latest, prolonged, atLeast = now + tonumber(ARGV[4]), ARGV[5] == '1', tonumber(ARGV[6])
  local kept = redis.call('HMGET', KEYS[1], 'used', 'endsAt')
  local used, endsAt = tonumber(kept[1] or '0'), tonumber(kept[2] or '0')
  local isKnown = endsAt > now
  if not isKnown and not atLeast then return false end
  local before = math.max(isKnown and used or 0, atLeast or 0)
  local granted = before < most or add < 0
  local after = granted and math.max(0, before + add) or before
  local ends = (isKnown and not (prolonged and granted)) and math.min(endsAt, latest) or latest
  if (isKnown and (after ~= used or ends ~= endsAt)) or (not isKnown and (after > 0 or prolonged)) then
    redis.call('HSET', KEYS[1], 'used', after, 'endsAt', ends)
    redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[4]) + 60000)
  end
  return { granted and 1 or 0, after, ends }`;

/** `hide`: hashes a name for its Redis key, as it may hold an address. */
export function redisCounts(redis: RedisConnection, hide: (name: string) => string): Counts {
  const script = redis.script("count", 1, COUNT);
  return {
    async count(name, now, { add, most, lastsMs, isProlonged, atLeast = "" }) {
      const key = await redis.key(`count:${hide(name)}`);
      const answer = await script(key, now, add, most, lastsMs, isProlonged ? 1 : 0, atLeast);
      if (!answer) return undefined;
      const [granted, used, endsAt] = answer as [number, number, number];
      return { granted: granted === 1, used, endsAt };
    },
    close: () => redis.close(),
  };
}
