// Authenticates the API key of a request, then applies the hourly rate limit, before any body is read.
import type { FastifyReply, FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import { hashKey, keyUseSecret } from "../commands/account/change-keys.ts";
import { may, RIGHT_OF_SCOPE } from "../commands/people/rights.ts";
import { Refused } from "../commands/refusals.ts";
import { type KeyScope, type Limits, USUAL_SCOPES } from "../events/vocabulary.ts";
import {
  byAddress,
  enforce,
  type RateLimits,
  REQUESTS_PER_HOUR_BY_ADDRESS,
  showWindow,
} from "../limits/rate-limit.ts";
import type { KeyCaller } from "../queries/find-caller.ts";
import { inNetworks } from "../runtime/addresses/networks.ts";
import { entriesBound } from "../runtime/entries-bound.ts";
import type { Logger } from "../runtime/logging.ts";
import type { Secrets } from "../stores/secrets/port.ts";

export type KeyGuardDeps = {
  /** The caller of an active key, by the SHA-256 of the whole key in hex; called on every request. */
  findCaller: (keyHash: string) => Promise<KeyCaller | undefined>;
  limits: Limits;
  rateLimits: RateLimits;
  secrets: Secrets;
  clock: () => Date;
  log: Logger;
};

/** Enough for a page with a hundred QR codes several times an hour; browsers cache each for an hour (`max-age`). */
const QR_IMAGES_PER_HOUR_BY_ADDRESS = 1_000;
const MAX_KEYS = 50_000;
const MAX_REFUSED = 10_000;
const REFUSED_TTL_MS = 3_600_000;
const KEY_FORMAT = /^[A-Za-z0-9]+_[A-Za-z0-9]{32}$/;
const USE_WRITTEN_EVERY_MS = 60_000;
const USE_KEPT_MS = 366 * 86_400_000;

/** What is counted by client address, and what a refusal calls it. */
const COUNTED = {
  address: "requests without a valid API key from this address",
  "unknown-key": "API keys tried from this address that are not known yet",
  qr: "QR images for this address",
} as const;
type AddressCount = keyof typeof COUNTED;

export type KeyGuard = ReturnType<typeof keyGuard>;

export function keyGuard(deps: KeyGuardDeps) {
  const { rateLimits, clock } = deps;
  const authenticate = keyAuthentication(deps);
  const noteUse = keyUses(deps);
  const limit = REQUESTS_PER_HOUR_BY_ADDRESS;
  const spend = async (request: FastifyRequest, reply: FastifyReply, kind: AddressCount, most = limit) => {
    const now = clock();
    enforce(reply, most, await rateLimits.take(byAddress(kind, request.ip), most, now), now, COUNTED[kind]);
  };
  const giveBack = (request: FastifyRequest, kind: AddressCount) =>
    rateLimits.take(byAddress(kind, request.ip), limit, clock(), -1);
  /** Sets the headers of the address's window without counting, for errors before a key is known. */
  const show = async (request: FastifyRequest, reply: FastifyReply) => {
    const now = clock();
    showWindow(reply, limit, await rateLimits.take(byAddress("address", request.ip), limit, now, 0), now);
  };

  /** Without a valid key, why it is refused, after counting against the address. */
  async function countedCaller(request: FastifyRequest, reply: FastifyReply): Promise<KeyCaller | Refused> {
    const counting = {
      spend: (kind: AddressCount) => spend(request, reply, kind),
      giveBack: (kind: AddressCount) => giveBack(request, kind),
    };
    const caller = await authenticate(request, counting).catch(async (error) => {
      // The key's own window is not known while a store is unavailable.
      if (!reply.hasHeader("x-ratelimit-limit")) await show(request, reply);
      throw error;
    });
    if (caller instanceof Refused) return caller;
    noteUse(caller.keyId);
    const { requestsPerHour } = deps.limits[caller.tier];
    const now = clock();
    const window = await rateLimits.take(`key ${caller.keyId}`, requestsPerHour, now);
    enforce(reply, requestsPerHour, window, now, "requests with this API key");
    return caller;
  }

  return {
    /**
     * Requires a valid key with the scope of the route and counts the request against it; without a valid one, against the
     * address.
     * @throws invalid_api_key, key_expired, address_not_allowed, rate_limit_exceeded, missing_scope, not_permitted
     */
    async demand(request: FastifyRequest, reply: FastifyReply, scope: KeyScope): Promise<void> {
      const caller = await countedCaller(request, reply);
      if (caller instanceof Refused) throw caller;
      if (!(caller.scopes ?? USUAL_SCOPES).includes(scope))
        throw new Refused("missing_scope", `This API key lacks the scope ${scope}: send a key that has it`);
      if (!may(caller.role, RIGHT_OF_SCOPE[scope])) throw new Refused("not_permitted");
      request.caller = caller;
    },
    show,
    /** Counts a QR image against the address: the route needs no key. @throws rate_limit_exceeded */
    countQr: (request: FastifyRequest, reply: FastifyReply) =>
      spend(request, reply, "qr", QR_IMAGES_PER_HOUR_BY_ADDRESS),
    /** Counts against a valid key, else against the address; does not require a key. @throws rate_limit_exceeded */
    count: countedCaller,
  };
}

/** `X-API-Key` (interface, part 5), or `Authorization: Bearer` from clients that have a setting for no other. */
export function sentKey(request: FastifyRequest): string | undefined {
  const header = request.headers["x-api-key"];
  return typeof header === "string" && header !== "" ? header : bearerToken(request);
}

/** The token of an `Authorization: Bearer` header (RFC 6750): an API key, or the operator's. */
export function bearerToken({ headers }: Pick<FastifyRequest, "headers">): string | undefined {
  return /^Bearer +(.+)$/i.exec(headers.authorization ?? "")?.[1];
}

/** Whether the text that was sent is no longer accepted. */
export function isExpired({ expiresAt }: KeyCaller, now: Date): boolean {
  return expiresAt !== undefined && expiresAt <= now.toISOString();
}

/**
 * Resolves to the caller of a valid key, else to why it is refused, after counting the request against the address. Guesses
 * are limited before they cost a lookup, without affecting valid keys behind the same address:
 * - a key that was valid in this process before is looked up on every request regardless of the address's limits, so
 *   that a deactivated key is refused as soon as its document or event is visible;
 * - a key that this process has not seen takes one of the address's lookups first (`unknown-key`), so a client that
 *   repeats one old key uses one lookup; it is given back for a key that proves valid, so that hundreds of keys behind
 *   one address all work after a restart;
 * - a key that was refused within the last hour takes one of the address's requests first.
 * A valid key from an address that it may not be used from is counted against that address alone.
 */
function keyAuthentication({ findCaller, clock }: Pick<KeyGuardDeps, "findCaller" | "clock">) {
  const valid = new LRUCache<string, true>(entriesBound(MAX_KEYS));
  const refused = new LRUCache<string, true>({ ...entriesBound(MAX_REFUSED), ttl: REFUSED_TTL_MS });

  return async (
    request: FastifyRequest,
    { spend, giveBack }: Record<"spend" | "giveBack", (kind: AddressCount) => Promise<unknown>>,
  ): Promise<KeyCaller | Refused> => {
    const key = sentKey(request);
    if (key === undefined || !KEY_FORMAT.test(key)) {
      await spend("address");
      return new Refused("invalid_api_key");
    }
    const keyHash = hashKey(key);
    const wasRefused = refused.has(keyHash);
    const countedAs = valid.has(keyHash) ? undefined : wasRefused ? "address" : "unknown-key";
    if (countedAs) await spend(countedAs);
    const caller = await findCaller(keyHash);
    if (caller && !isExpired(caller, clock())) {
      valid.set(keyHash, true);
      if (countedAs) await giveBack(countedAs);
      refused.delete(keyHash);
      if (!caller.networks || inNetworks(caller.networks)(request.ip)) return caller;
      await spend("address");
      return new Refused("address_not_allowed");
    }
    valid.delete(keyHash);
    refused.set(keyHash, true);
    if (!wasRefused) await spend("address");
    return caller ? expired(caller) : new Refused("invalid_api_key");
  };
}

function expired({ expiresAt }: KeyCaller): Refused {
  return new Refused("key_expired", `This API key expired at ${expiresAt}: send another one`);
}

/**
 * Notes when each key was last used, in the background and at most once a minute for a key and process; as secrets, because
 * an event for each request would flood the log.
 */
function keyUses({ secrets, clock, log }: Pick<KeyGuardDeps, "secrets" | "clock" | "log">) {
  const written = new LRUCache<string, number>(entriesBound(MAX_KEYS));
  return (keyId: string): void => {
    const now = clock();
    const before = written.get(keyId);
    if (before !== undefined && now.getTime() - before < USE_WRITTEN_EVERY_MS) return;
    written.set(keyId, now.getTime());
    const expiresAt = new Date(now.getTime() + USE_KEPT_MS).toISOString();
    secrets
      .put(keyUseSecret(keyId), { value: now.toISOString(), expiresAt })
      .catch((err: unknown) => log.warn({ err }, "the use of an API key was not noted"));
  };
}
