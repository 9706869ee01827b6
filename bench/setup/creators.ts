// Accounts that create links over the API, with as many keys as their requests need.
import { REQUESTS_PER_HOUR_BY_ADDRESS } from "../../src/api/limits/rate-limit.ts";
import type { Backend } from "../../src/backend.ts";
import type { Config } from "../../src/config.ts";
import { TIER_LIMITS } from "../../src/events/vocabulary.ts";
import { issueKeys } from "./issue-keys.ts";
import { openBenchAccount } from "./seed-links.ts";

/**
 * Keys of Developer accounts that together allow that many requests within the hour, as far as one address may show new
 * keys.
 */
export async function seedCreators(backend: Backend, config: Config, requests: number): Promise<string[]> {
  const { requestsPerHour, activeKeys } = TIER_LIMITS.developer;
  const keysNeeded = Math.min(requests / requestsPerHour, REQUESTS_PER_HOUR_BY_ADDRESS);
  const accounts = Math.ceil(keysNeeded / activeKeys);
  const keys = await Promise.all(
    Array.from({ length: accounts }, async () => {
      const accountId = crypto.randomUUID();
      await openBenchAccount(backend, accountId);
      return await issueKeys(backend, config, accountId);
    }),
  );
  return keys.flat();
}
