// Who asks, and how often: X-API-Key first, then the hour's limit, before any body is read (DESIGN §7).
import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import { TIER_LIMITS } from "../events/vocabulary.ts";
import type { KeyCaller } from "../queries/find-caller.ts";
import { InvalidKey } from "./errors.ts";
import type { KeyUsage } from "./key-usage.ts";
import {
  addressSubject,
  type RateLimits,
  REQUESTS_PER_HOUR_BY_ADDRESS,
  showWindow,
  spend,
} from "./rate-limit.ts";

export type KeyGuardDeps = {
  clock: () => Date;
  rateLimits: RateLimits;
  /** The caller of an active key, by the SHA-256 of the whole key in hex; looked up anew on every request. */
  findCaller: (keyHash: string) => Promise<KeyCaller | undefined>;
  /** Heard to be deactivated, however late the documents are. */
  isRevoked: (keyId: string) => boolean;
  /** The same from the log itself, for keys that no document shows yet. */
  findRecentCaller: (keyHash: string) => Promise<KeyCaller | undefined>;
  usage: KeyUsage;
};

const UNKNOWN_KEYS_KEPT = 10_000;
const UNKNOWN_KEY_TTL_MS = 1000;
const KEY_FORMAT = /^[A-Za-z0-9]+_[A-Za-z0-9]{32}$/;

export type KeyGuard = {
  /** Demands a valid key and counts against it; without one, against the address. */
  demand(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Shows the address's window and counts nothing: answers that need no key. */
  show(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Counts against the key when it is valid, else the address, but refuses nobody for want of a key. */
  count(request: FastifyRequest, reply: FastifyReply): Promise<void>;
};

export function keyGuard(deps: KeyGuardDeps): KeyGuard {
  const { rateLimits, clock } = deps;
  const authenticate = keyAuthentication(deps);
  const spendByAddress = (request: FastifyRequest, reply: FastifyReply) =>
    spend(rateLimits, addressSubject(request.ip), REQUESTS_PER_HOUR_BY_ADDRESS, clock(), reply);
  const spendByKey = (caller: KeyCaller, reply: FastifyReply) => {
    deps.usage.used(caller.keyId);
    return spend(rateLimits, `key ${caller.keyId}`, TIER_LIMITS[caller.tier].requestsPerHour, clock(), reply);
  };
  return {
    async demand(request, reply) {
      const caller = await authenticate(request.headers["x-api-key"]);
      if (!caller) {
        await spendByAddress(request, reply);
        throw new InvalidKey();
      }
      request.caller = caller;
      await spendByKey(caller, reply);
    },
    async show(request, reply) {
      const window = await rateLimits.look(addressSubject(request.ip), REQUESTS_PER_HOUR_BY_ADDRESS, clock());
      showWindow(reply, REQUESTS_PER_HOUR_BY_ADDRESS, window);
    },
    async count(request, reply) {
      const caller = await authenticate(request.headers["x-api-key"]);
      await (caller ? spendByKey(caller, reply) : spendByAddress(request, reply));
    },
  };
}

/**
 * No positive answer is kept, so a deactivated key is refused as soon as its document says so. A key that isn't
 * known may have been issued a moment ago, perhaps by another process: the log is asked before it is refused.
 */
function keyAuthentication(deps: KeyGuardDeps) {
  const unknown = new LRUCache<string, true>({ max: UNKNOWN_KEYS_KEPT, ttl: UNKNOWN_KEY_TTL_MS });
  return async (header: string | string[] | undefined): Promise<KeyCaller | undefined> => {
    if (typeof header !== "string" || !KEY_FORMAT.test(header)) return undefined;
    const keyHash = createHash("sha256").update(header).digest("hex");
    const caller = await deps.findCaller(keyHash);
    if (caller && deps.isRevoked(caller.keyId)) return undefined;
    if (caller || unknown.has(keyHash)) return caller;
    const recent = await deps.findRecentCaller(keyHash);
    if (!recent) unknown.set(keyHash, true);
    return recent && deps.isRevoked(recent.keyId) ? undefined : recent;
  };
}
