// Leases on Redis: a key with the holder as its value and an expiry.
import type { RedisConnection } from "../connections/redis.ts";
import type { Leases } from "./leases.ts";

const HOLD = `
  local holder = redis.call('GET', KEYS[1])
  if holder and holder ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1`;

const RELEASE = `
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  return redis.call('DEL', KEYS[1])`;

/** Methods throw CoordinationUnavailable. */
export function redisLeases(redis: RedisConnection): Leases {
  const hold = redis.script("holdLease", 1, HOLD);
  const release = redis.script("releaseLease", 1, RELEASE);
  // The braces are part of the key since the first version: without them an upgrade would get a second holder.
  const keyOf = (name: string) => redis.key(`lease:{${name}}`);
  return {
    hold: async (name, holder, ttlMs) => (await hold(keyOf(name), holder, ttlMs)) === 1,
    release: async (name, holder) => void (await release(keyOf(name), holder)),
  };
}
