// Whose key a request shows; what it costs to try keys that nobody has.
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { KeyCaller } from "../../queries/find-caller.ts";

export type KeyAuthenticationDeps = {
  /** The caller of an active key, by the SHA-256 of the whole key in hex; looked up anew on every request. */
  findCaller: (keyHash: string) => Promise<KeyCaller | undefined>;
};

/** Who limits what a request without a valid key costs; both throw RateLimitExceeded. */
export type AddressBudget = {
  /** One request without a valid key. */
  spendRequest(): Promise<void>;
  /** One look-up of a key that this process has not seen before. */
  spendLookUp(): Promise<void>;
};

const VALID_KEPT = 50_000;
const REFUSED_KEPT = 10_000;
const REFUSED_MS = 3_600_000;
const KEY_FORMAT = /^[A-Za-z0-9]+_[A-Za-z0-9]{32}$/;

/**
 * Answers the caller of a valid key; otherwise undefined, once the address has paid for it. Guesses are limited before
 * they cost a look-up, and a valid key must not suffer from guesses of others behind the same address. So:
 * - a key that was valid here before is looked up whatever its address has used up, and on every request, so that a
 *   deactivated one is refused as soon as its document or event says so;
 * - a key never seen here takes one of its address's look-ups first; a program that goes on with an old key is one;
 * - a key refused before takes one of its address's requests first.
 */
export function keyAuthentication(deps: KeyAuthenticationDeps) {
  const valid = new LRUCache<string, true>({ max: VALID_KEPT });
  const refused = new LRUCache<string, true>({ max: REFUSED_KEPT, ttl: REFUSED_MS });

  return async (header: string | string[] | undefined, budget: AddressBudget) => {
    if (typeof header !== "string" || !KEY_FORMAT.test(header)) {
      await budget.spendRequest();
      return undefined;
    }
    const keyHash = createHash("sha256").update(header).digest("hex");
    const wasRefused = refused.has(keyHash);
    if (wasRefused) await budget.spendRequest();
    else if (!valid.has(keyHash)) await budget.spendLookUp();
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
