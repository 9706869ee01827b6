// Rate limits: a fixed window of one hour from the first request, and its three response headers.
import type { FastifyReply } from "fastify";
import { Refused } from "../../runtime/refused.ts";

export const WINDOW_MS = 3_600_000;

/** `used`: granted requests only. `resetAt`: milliseconds since the epoch. */
export type RateWindow = { granted: boolean; used: number; resetAt: number };

/** A window with the limit that applies to it. */
export type LimitedWindow = RateWindow & { limit: number };

/**
 * `subject`: kind and id, such as `key 0190...`. The number of windows is bounded per kind, so that a flood of one kind
 * evicts none of another. The limit is passed with each request, so that a change of tier applies to the next one.
 */
export interface RateLimits {
  /** Counts one request, unless the window is full. */
  take(subject: string, limit: number, now: Date): Promise<RateWindow>;
  /** The current window, without counting. */
  look(subject: string, limit: number, now: Date): Promise<RateWindow>;
}

/**
 * Sets the rate limit headers (interface, part 8).
 * @throws rate_limit_exceeded when the window is full
 */
export function enforce(reply: FastifyReply, window: LimitedWindow, now: Date): void {
  showWindow(reply, window);
  if (!window.granted) throw rateLimitExceeded(window, window.limit, now);
}

/** For `Retry-After`; at least 1. */
export function secondsUntilReset(window: RateWindow, now: Date): number {
  return Math.max(1, Math.ceil((window.resetAt - now.getTime()) / 1000));
}

/** `X-RateLimit-Reset` is in Unix seconds, rounded up so that a caller who waits until then is not refused. */
export function showWindow(reply: FastifyReply, window: LimitedWindow): void {
  reply.header("x-ratelimit-limit", String(window.limit));
  reply.header("x-ratelimit-remaining", String(Math.max(0, window.limit - window.used)));
  reply.header("x-ratelimit-reset", String(Math.ceil(window.resetAt / 1000)));
}

/** Interface, part 8. */
export function rateLimitExceeded(window: RateWindow, limit: number, now: Date): Refused {
  const retryAfter = secondsUntilReset(window, now);
  const text = `Rate limit of ${limit} requests per hour exceeded: try again in ${retryAfter} seconds`;
  return new Refused("rate_limit_exceeded", text, { retryAfter });
}

/** Of passwords, tokens or mails: for people. */
export function tooManyTries(window: RateWindow, now: Date): Refused {
  const retryAfter = secondsUntilReset(window, now);
  const text = `Too many tries. Please wait ${Math.ceil(retryAfter / 60)} minutes and try again.`;
  return new Refused("rate_limit_exceeded", text, { retryAfter });
}
