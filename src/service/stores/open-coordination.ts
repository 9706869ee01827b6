// Opens what processes share beside the stores: in Redis when REDIS_URL is set, else in this process and its data folder.
import { join } from "node:path";
import { memoryRateLimits, withOwnLimits } from "../../api/limits/rate-limit.memory.ts";
import type { RateLimits } from "../../api/limits/rate-limit.ts";
import type { Config } from "../../config/config.ts";
import { fileDailySalts } from "../../redirect/clicks/visitors/daily-salts.files.ts";
import type { DailySalts } from "../../redirect/clicks/visitors/daily-salts.ts";
import { memoryVisitCounter } from "../../redirect/visits/visit-counter.memory.ts";
import type { VisitCounter } from "../../redirect/visits/visit-counter.ts";
import type { RedisConnection } from "../../stores/connections/redis.ts";
import type { Open } from "./open-together.ts";

export type CoordinationConfig = Pick<Config, "dataDir"> &
  Partial<Pick<Config, "redisUrl" | "eventStorePrefix" | "baseHost">>;

export type Coordination = {
  /** Shared through Redis; while Redis is unavailable each process counts for itself. */
  rateLimits(): RateLimits;
  /** Of links with a limit; throws CoordinationUnavailable while Redis is unavailable. */
  visitCounter(): VisitCounter;
  /** Undefined without REDIS_URL. */
  redis: { readonly unavailable: boolean } | undefined;
};

/** `hashSubject`: what a rate limit's address or e-mail is called in Redis, so that Redis holds no personal data. */
export async function openCoordination(
  open: Open,
  config: CoordinationConfig,
  hashSubject: (subject: string) => string,
  log: ((message: string) => void) | undefined,
): Promise<Coordination> {
  const redis = await connectRedis(open, config, log);
  return {
    redis,
    rateLimits: await rateLimitsIn(redis, hashSubject),
    visitCounter: await visitCounterIn(redis),
  };
}

/** In Redis, else in files for all processes that share the data folder. */
export async function openDailySalts(open: Open, config: CoordinationConfig): Promise<DailySalts> {
  const redis = await connectRedis(open, config);
  if (!redis) return fileDailySalts(join(config.dataDir, "visitor-salts"));
  const { redisDailySalts } = await import("../../redirect/clicks/visitors/daily-salts.redis.ts");
  return redisDailySalts(redis);
}

async function rateLimitsIn(
  redis: RedisConnection | undefined,
  hashSubject: (subject: string) => string,
): Promise<Coordination["rateLimits"]> {
  if (!redis) return () => memoryRateLimits();
  const { redisRateLimits } = await import("../../api/limits/rate-limit.redis.ts");
  return () => withOwnLimits(redisRateLimits(redis, hashSubject), memoryRateLimits());
}

async function visitCounterIn(redis: RedisConnection | undefined): Promise<Coordination["visitCounter"]> {
  if (!redis) return () => memoryVisitCounter();
  const { redisVisitCounter } = await import("../../redirect/visits/visit-counter.redis.ts");
  return () => redisVisitCounter(redis);
}

/** Undefined without REDIS_URL. Keys carry the base host, as services with different ones may share a Redis server. */
async function connectRedis(
  open: Open,
  { redisUrl, eventStorePrefix = "", baseHost }: CoordinationConfig,
  log: (message: string) => void = () => undefined,
): Promise<RedisConnection | undefined> {
  if (!redisUrl) return undefined;
  const { openRedis } = await import("../../stores/connections/redis.ts");
  return await open(openRedis(redisUrl, { log, prefix: `linkledger:${eventStorePrefix}${baseHost}:` }));
}
