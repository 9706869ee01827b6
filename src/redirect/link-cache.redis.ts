// The shared link cache on Redis: revisions are compared where the entries lie, so that no late writer wins.
import type { RedisConnection } from "../redis/connection.ts";
import type { LinkCache } from "./link-cache.ts";
import type { LinkFacts } from "./link-entry.ts";

/** Of an entry that nobody writes; also how long an outdated revision is remembered, far beyond any lag. */
const TTL_MS = 3_600_000;

// A hash: r, the newest revision known; v, the link at r, which is missing while only r is known.
const PUT = `
  local known = tonumber(redis.call('HGET', KEYS[1], 'r') or '-1')
  if known > tonumber(ARGV[1]) then return 0 end
  redis.call('HSET', KEYS[1], 'r', ARGV[1], 'v', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return 1`;

const OUTDATE = `
  local known = tonumber(redis.call('HGET', KEYS[1], 'r') or '-1')
  if known >= tonumber(ARGV[1]) then return 0 end
  redis.call('HDEL', KEYS[1], 'v')
  redis.call('HSET', KEYS[1], 'r', ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 1`;

export function redisLinkCache(redis: RedisConnection, ttlMs = TTL_MS): LinkCache {
  const put = redis.script("putLink", 1, PUT);
  const outdate = redis.script("outdateLink", 1, OUTDATE);
  const name = (key: string) => redis.key(`link:${key}`);
  return {
    async get(key) {
      const text = await redis.run((client) => client.hget(name(key), "v"));
      return text === null ? undefined : (JSON.parse(text) as LinkFacts);
    },
    async put(key, link) {
      const { host, slug, accountId, longUrl, shortUrl, status, via, revision } = link;
      const facts: LinkFacts = { host, slug, accountId, longUrl, shortUrl, status, via, revision };
      await put(name(key), revision, JSON.stringify(facts), ttlMs);
    },
    async outdate(key, revision) {
      await outdate(name(key), revision, ttlMs);
    },
  };
}
