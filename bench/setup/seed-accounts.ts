// Makes Developer accounts with API keys, as the limit of one key is 500 requests an hour.
import { randomUUID } from "node:crypto";
import type { Backend } from "../../src/backend.ts";
import { issueKey } from "../../src/commands/keys/issue-key.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import type { Config } from "../../src/config.ts";
import { TIER_LIMITS } from "../../src/events/vocabulary.ts";
import { openBenchAccount } from "./seed-links.ts";

export type KeyedAccount = { accountId: string; keys: string[] };

const context = { requestId: "bench", actor: { type: "operator" as const } };

/** Accounts whose keys together allow that many requests within the hour. */
export async function seedAccounts(
  backend: Backend,
  config: Config,
  requests: number,
): Promise<KeyedAccount[]> {
  const { requestsPerHour, activeKeys } = TIER_LIMITS.developer;
  const accounts = Math.ceil(requests / (requestsPerHour * activeKeys));
  return await Promise.all(
    Array.from({ length: accounts }, async () => {
      const accountId = randomUUID();
      await openBenchAccount(backend, accountId);
      return { accountId, keys: await issueKeys(backend, config, accountId) };
    }),
  );
}

/** As many keys as the account may have. */
export async function issueKeys(
  backend: Backend,
  { keyPrefix }: Config,
  accountId: string,
): Promise<string[]> {
  const deps = { ...runtimeDeps, ...backend, keyPrefix };
  const keys: string[] = [];
  while (keys.length < TIER_LIMITS.developer.activeKeys)
    keys.push((await issueKey(deps, context, accountId)).key);
  return keys;
}
