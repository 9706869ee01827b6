// Authenticates X-API-Key, then applies the hourly rate limit, before any body is read.
import type { FastifyReply, FastifyRequest } from "fastify";
import { TIER_LIMITS } from "../../events/vocabulary.ts";
import type { KeyCaller } from "../../queries/find-caller.ts";
import { Refused } from "../../runtime/refused.ts";
import { lookByAddress, REQUESTS_PER_HOUR_BY_ADDRESS, takeByAddress } from "../limits/address-limit.ts";
import { enforce, type RateLimits, showWindow } from "../limits/rate-limit.ts";
import { type KeyAuthenticationDeps, keyAuthentication } from "./key-authentication.ts";
import type { KeyUsage } from "./key-usage.ts";

export type KeyGuardDeps = KeyAuthenticationDeps & {
  clock: () => Date;
  rateLimits: RateLimits;
  usage: KeyUsage;
};

/** Enough for a page with a hundred QR codes several times an hour; browsers cache each for an hour (`max-age`). */
const QR_IMAGES_PER_HOUR_BY_ADDRESS = 1_000;

export type KeyGuard = {
  /**
   * Requires a valid key and counts the request against it; without one, against the address.
   * @throws invalid_api_key, rate_limit_exceeded
   */
  demand(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Sets the headers of the address's window without counting, for errors before a key is known. */
  show(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Counts a QR image against the address: the route needs no key. @throws rate_limit_exceeded */
  countQr(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Counts against a valid key, else against the address; does not require a key. @throws rate_limit_exceeded */
  count(request: FastifyRequest, reply: FastifyReply): Promise<void>;
};

export function keyGuard(deps: KeyGuardDeps): KeyGuard {
  const { rateLimits, clock } = deps;
  const authenticate = keyAuthentication(deps);
  const limit = REQUESTS_PER_HOUR_BY_ADDRESS;
  const spend = async (request: FastifyRequest, reply: FastifyReply, kind: string, most = limit) => {
    const now = clock();
    enforce(reply, await takeByAddress(rateLimits, kind, request.ip, most, now), now);
  };
  const show = async (request: FastifyRequest, reply: FastifyReply) => {
    showWindow(reply, await lookByAddress(rateLimits, "address", request.ip, limit, clock()));
  };

  /** Undefined without a valid key, after counting against the address. */
  async function countedCaller(request: FastifyRequest, reply: FastifyReply): Promise<KeyCaller | undefined> {
    const caller = await authenticate(request.headers["x-api-key"], {
      spendRequest: () => spend(request, reply, "address"),
      spendLookup: () => spend(request, reply, "unknown-key"),
    }).catch(async (error) => {
      // The key's own window is not known while a store is unavailable.
      if (!reply.hasHeader("x-ratelimit-limit")) await show(request, reply);
      throw error;
    });
    if (!caller) return undefined;
    deps.usage.used(caller.keyId);
    const { requestsPerHour } = TIER_LIMITS[caller.tier];
    const now = clock();
    const window = await rateLimits.take(`key ${caller.keyId}`, requestsPerHour, now);
    enforce(reply, { ...window, limit: requestsPerHour }, now);
    return caller;
  }

  return {
    async demand(request, reply) {
      const caller = await countedCaller(request, reply);
      if (!caller) throw new Refused("invalid_api_key");
      request.caller = caller;
    },
    show,
    countQr: (request, reply) => spend(request, reply, "qr", QR_IMAGES_PER_HOUR_BY_ADDRESS),
    async count(request, reply) {
      await countedCaller(request, reply);
    },
  };
}
