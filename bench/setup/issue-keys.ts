// Issues API keys to an account of a benchmark; the limit of one key is 500 requests an hour.
import type { Backend } from "../../src/backend.ts";
import { issueKey } from "../../src/commands/account/keys.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import type { Config } from "../../src/config.ts";
import { TIER_LIMITS } from "../../src/events/vocabulary.ts";

const context = { requestId: "bench", actor: { type: "operator" as const } };

/** As many keys as a Developer account may have. */
export async function issueKeys(
  backend: Backend,
  { keyPrefix }: Pick<Config, "keyPrefix">,
  accountId: string,
): Promise<string[]> {
  const deps = { ...runtimeDeps, ...backend, keyPrefix };
  const keys: string[] = [];
  while (keys.length < TIER_LIMITS.developer.activeKeys)
    keys.push((await issueKey(deps, context, accountId)).key);
  return keys;
}
