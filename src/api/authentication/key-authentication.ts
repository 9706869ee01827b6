// Authenticates an API key, and limits how many unknown keys an address can try.
import { LRUCache } from "lru-cache";
import { hashKey } from "../../commands/account/keys.ts";
import type { KeyCaller } from "../../queries/find-caller.ts";
import { atMost } from "../../runtime/at-most.ts";

export type KeyAuthenticationDeps = {
  /** The caller of an active key, by the SHA-256 of the whole key in hex; called on every request. */
  findCaller: (keyHash: string) => Promise<KeyCaller | undefined>;
};

/** Rate limits of the requester's address; both methods throw rate_limit_exceeded. */
export type AddressBudget = {
  /** One request without a valid key. */
  spendRequest(): Promise<void>;
  /** One lookup of a key that this process has not seen before. */
  spendLookup(): Promise<void>;
};

const MAX_VALID = 50_000;
const MAX_REFUSED = 10_000;
const REFUSED_TTL_MS = 3_600_000;
const KEY_FORMAT = /^[A-Za-z0-9]+_[A-Za-z0-9]{32}$/;

/**
 * Returns a function that resolves to the caller of a valid key, else to undefined after counting the request against
 * the address. Guesses are limited before they cost a lookup, without affecting valid keys behind the same address:
 * - a key that was valid in this process before is looked up on every request regardless of the address's limits, so
 *   that a deactivated key is refused as soon as its document or event is visible;
 * - a key that this process has not seen takes one of the address's lookups first, so a client that repeats one old key
 *   uses one lookup;
 * - a key that was refused within the last hour takes one of the address's requests first.
 */
export function keyAuthentication(deps: KeyAuthenticationDeps) {
  const valid = new LRUCache<string, true>(atMost(MAX_VALID));
  const refused = new LRUCache<string, true>({ ...atMost(MAX_REFUSED), ttl: REFUSED_TTL_MS });

  return async (header: string | string[] | undefined, budget: AddressBudget) => {
    if (typeof header !== "string" || !KEY_FORMAT.test(header)) {
      await budget.spendRequest();
      return undefined;
    }
    const keyHash = hashKey(header);
    const wasRefused = refused.has(keyHash);
    if (wasRefused) await budget.spendRequest();
    else if (!valid.has(keyHash)) await budget.spendLookup();
    const caller = await deps.findCaller(keyHash);
    if (caller) {
      valid.set(keyHash, true);
      refused.delete(keyHash);
      return caller;
    }
    valid.delete(keyHash);
    refused.set(keyHash, true);
    if (!wasRefused) await budget.spendRequest();
    return undefined;
  };
}
