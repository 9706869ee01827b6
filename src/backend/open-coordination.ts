// Opens what processes share beside the stores: in Redis when REDIS_URL is set, else in this process and its data folder.
import { join } from "node:path";
import { memoryRateLimits } from "../api/limits/rate-limit.memory.ts";
import type { RateLimits } from "../api/limits/rate-limit.ts";
import { withOwnLimits } from "../api/limits/rate-limit-fallback.ts";
import type { Config } from "../config.ts";
import type { RedisConnection } from "../connections/redis.ts";
import { memoryLeases } from "../coordination/leases.memory.ts";
import type { Leases } from "../coordination/leases.ts";
import { withOwnLeases } from "../coordination/leases-fallback.ts";
import { fileDailySalts } from "../redirect/clicks/visitors/daily-salts.files.ts";
import type { DailySalts } from "../redirect/clicks/visitors/daily-salts.ts";
import type { Open } from "./open-together.ts";

export type CoordinationConfig = Pick<Config, "dataDir"> &
  Partial<Pick<Config, "redisUrl" | "eventStorePrefix" | "baseHost">>;

export type Coordination = {
  /** In Redis, else, and while it is unavailable, among the jobs of this thread only; MongoDB's come before both. */
  leases: Leases;
  /** Shared through Redis; while Redis is unavailable each process counts for itself. */
  rateLimits(): RateLimits;
  /** In Redis, else in files for all processes that share the data folder. */
  dailySalts: DailySalts;
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
  if (!config.redisUrl) {
    return {
      redis: undefined,
      leases: inProcessLeases(),
      rateLimits: () => memoryRateLimits(),
      dailySalts: saltFiles(config),
    };
  }
  const { redisRateLimits } = await import("../api/limits/rate-limit.redis.ts");
  const { redisDailySalts } = await import("../redirect/clicks/visitors/daily-salts.redis.ts");
  const redis = await connectRedis(open, config.redisUrl, config, log);
  return {
    redis,
    leases: await sharedLeases(redis),
    rateLimits: () => withOwnLimits(redisRateLimits(redis, hashSubject), memoryRateLimits()),
    dailySalts: redisDailySalts(redis),
  };
}

/** The daily salts alone. */
export async function openDailySalts(open: Open, config: CoordinationConfig): Promise<DailySalts> {
  if (!config.redisUrl) return saltFiles(config);
  const { redisDailySalts } = await import("../redirect/clicks/visitors/daily-salts.redis.ts");
  return redisDailySalts(await connectRedis(open, config.redisUrl, config));
}

/** The leases alone, where MongoDB doesn't hold them. */
export async function openLeases(open: Open, config: CoordinationConfig): Promise<Leases> {
  if (!config.redisUrl) return inProcessLeases();
  return await sharedLeases(await connectRedis(open, config.redisUrl, config));
}

async function sharedLeases(redis: RedisConnection): Promise<Leases> {
  const { redisLeases } = await import("../coordination/leases.redis.ts");
  return withOwnLeases(redisLeases(redis), inProcessLeases());
}

function saltFiles({ dataDir }: CoordinationConfig): DailySalts {
  return fileDailySalts(join(dataDir, "visitor-salts"));
}

function inProcessLeases(): Leases {
  return memoryLeases(() => performance.now());
}

/** Keys carry the base host, as services with different ones may share a Redis server. */
async function connectRedis(
  open: Open,
  url: string,
  { eventStorePrefix = "", baseHost }: CoordinationConfig,
  log: (message: string) => void = () => undefined,
) {
  const { openRedis } = await import("../connections/redis.ts");
  return await open(openRedis(url, { log, prefix: `linkledger:${eventStorePrefix}${baseHost}:` }));
}
