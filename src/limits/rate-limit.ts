// Rate limits: a fixed window of one hour from the first request of a key or an address, and its response headers.
import type { FastifyReply } from "fastify";
import { personByEmailSecret } from "../commands/people/secrets.ts";
import { Refused } from "../commands/refusals.ts";
import { addressOf } from "../runtime/addresses/networks.ts";
import type { Counts } from "../stores/counts/counts.ts";

export const WINDOW_MS = 3_600_000;

/** `used`: granted requests only. `resetAt`: milliseconds since the epoch. */
export type RateWindow = { granted: boolean; used: number; resetAt: number };

/**
 * `subject`: kind and id, such as `key 0190...`. The limit is passed with each request, so that a change of tier applies to the next one.
 */
export interface RateLimits {
  /**
   * Counts one request, unless the window is full; `requests: 0` tells the current window without counting, and -1 gives
   * one back that was granted.
   */
  take(subject: string, limit: number, now: Date, requests?: 0 | 1 | -1): Promise<RateWindow>;
}

export function rateLimits(counts: Counts): RateLimits {
  return {
    async take(subject, limit, now, requests = 1) {
      const counting = { add: requests, most: limit, lastsMs: WINDOW_MS, atLeast: 0 };
      const window = await counts.count(subject, now.getTime(), counting);
      const { granted, used, endsAt } = window ?? {
        granted: true,
        used: 0,
        endsAt: now.getTime() + WINDOW_MS,
      };
      return { granted, used, resetAt: endsAt };
    },
  };
}

/** For requests without a valid key; also the limit shown in their headers. */
export const REQUESTS_PER_HOUR_BY_ADDRESS = 500;

/** The subject of a client address, for requests without a key. */
export function byAddress(kind: string, ip: string): string {
  return `${kind} ${addressOf(ip)}`;
}

export type CountDeps = { rateLimits: RateLimits; clock: () => Date };

/** Counts a try of a password, token or mail, or a costly request: for people. @throws rate_limit_exceeded */
export async function countTry(deps: CountDeps, subject: string, limit: number): Promise<void> {
  const now = deps.clock();
  refuseTries(await deps.rateLimits.take(subject, limit, now), now);
}

/** An hour and recipient. */
const MAILS_AN_HOUR = 5;

/** Counts a mail that somebody gets at another one's wish, whoever asks for it. @throws rate_limit_exceeded */
export async function countMail(deps: CountDeps, email: string): Promise<void> {
  await countTry(deps, `mail ${personByEmailSecret(email)}`, MAILS_AN_HOUR);
}

/** @throws rate_limit_exceeded when the window is full */
export function refuseTries(window: RateWindow, now: Date): void {
  if (window.granted) return;
  const retryAfter = secondsUntilReset(window, now);
  const text = `Too many tries. Please wait ${Math.ceil(retryAfter / 60)} minutes and try again.`;
  throw new Refused("rate_limit_exceeded", text, { retryAfter });
}

/**
 * Sets the rate limit headers (interface, part 8). `counted`: what the window limits, in words.
 * @throws rate_limit_exceeded when the window is full
 */
export function enforce(
  reply: FastifyReply,
  limit: number,
  window: RateWindow,
  now: Date,
  counted: string,
): void {
  showWindow(reply, limit, window, now);
  if (window.granted) return;
  const retryAfter = secondsUntilReset(window, now);
  const text = `Rate limit exceeded: ${limit} ${counted} per hour; try again in ${retryAfter} seconds`;
  throw new Refused("rate_limit_exceeded", text, { retryAfter });
}

/**
 * `X-RateLimit-Reset` is in Unix seconds, rounded up so that a caller who waits until then is not refused. `RateLimit` and
 * `RateLimit-Policy` say the same as draft-ietf-httpapi-ratelimit-headers has it, the reset as seconds from now.
 */
export function showWindow(reply: FastifyReply, limit: number, window: RateWindow, now: Date): void {
  const remaining = Math.max(0, limit - window.used);
  reply.header("x-ratelimit-limit", String(limit));
  reply.header("x-ratelimit-remaining", String(remaining));
  reply.header("x-ratelimit-reset", String(Math.ceil(window.resetAt / 1000)));
  reply.header("ratelimit-policy", `"hour";q=${limit};w=${WINDOW_MS / 1000}`);
  reply.header("ratelimit", `"hour";r=${remaining};t=${secondsUntilReset(window, now)}`);
}

/** For `Retry-After`; at least 1. */
export function secondsUntilReset(window: RateWindow, now: Date): number {
  return Math.max(1, Math.ceil((window.resetAt - now.getTime()) / 1000));
}
