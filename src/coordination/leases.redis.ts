// Leases on Redis: one key that ends by itself, compared before it is renewed or freed, and a fence that only rises.
import type { RedisConnection } from "../redis/connection.ts";
import type { Lease, Leases } from "./leases.ts";

// At least the server's time in ms, so that tokens go on rising when the server has lost its data.
const ACQUIRE = `
  if redis.call('EXISTS', KEYS[1]) == 1 then return false end
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local token = math.max(tonumber(redis.call('GET', KEYS[2]) or '0') + 1, now)
  redis.call('SET', KEYS[2], string.format('%.0f', token))
  redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. string.format('%.0f', token), 'PX', ARGV[2])
  return string.format('%.0f', token)`;

const RENEW = `
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

const RELEASE = `
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  return redis.call('DEL', KEYS[1])`;

export function redisLeases(redis: RedisConnection): Leases {
  const acquire = redis.script("acquireLease", 2, ACQUIRE);
  const renew = redis.script("renewLease", 1, RENEW);
  const release = redis.script("releaseLease", 1, RELEASE);
  // Braces: both keys of a name lie on the same shard.
  const leaseKey = (name: string) => redis.key(`lease:{${name}}`);
  const fenceKey = (name: string) => redis.key(`fence:{${name}}`);
  const mark = ({ holder, token }: Lease) => `${holder} ${token}`;
  return {
    async acquire(name, holder, ttlMs) {
      const token = await acquire(leaseKey(name), fenceKey(name), holder, ttlMs);
      return token === null ? undefined : { name, holder, token: Number(token) };
    },
    async renew(lease, ttlMs) {
      return (await renew(leaseKey(lease.name), mark(lease), ttlMs)) === 1;
    },
    async release(lease) {
      await release(leaseKey(lease.name), mark(lease));
    },
  };
}
