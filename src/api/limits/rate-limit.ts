// How often one may ask: a fixed window of one hour from the first request (DESIGN §7), told in three headers.
import type { FastifyReply } from "fastify";
import { RateLimitExceeded } from "../errors.ts";

export const WINDOW_MS = 3_600_000;

/** `used` counts granted requests only; `resetAt` in milliseconds since the epoch. */
export type RateWindow = { granted: boolean; used: number; resetAt: number };

/**
 * `subject`: its kind and its id, such as `key 0190...`: the windows of each kind are bounded for themselves, so that
 * a flood of one evicts none of another. The limit comes with each request, so a change of tier counts at once.
 */
export interface RateLimits {
  /** Counts one request, unless the window is full. */
  take(subject: string, limit: number, now: Date): Promise<RateWindow>;
  /** The window as it stands, counting nothing. */
  look(subject: string, limit: number, now: Date): Promise<RateWindow>;
}

/**
 * Says in the headers how the window stands (interface, part 8).
 * @throws RateLimitExceeded when it granted nothing
 */
export function enforce(reply: FastifyReply, window: RateWindow & { limit: number }, now: Date): void {
  showWindow(reply, window);
  if (!window.granted) throw new RateLimitExceeded(window.limit, secondsUntilReset(window, now));
}

/** For `Retry-After`; at least one. */
export function secondsUntilReset(window: RateWindow, now: Date): number {
  return Math.max(1, Math.ceil((window.resetAt - now.getTime()) / 1000));
}

/** `X-RateLimit-Reset` is in Unix seconds, rounded up so that a caller who waits for it isn't early. */
export function showWindow(reply: FastifyReply, window: RateWindow & { limit: number }): void {
  reply.header("x-ratelimit-limit", String(window.limit));
  reply.header("x-ratelimit-remaining", String(Math.max(0, window.limit - window.used)));
  reply.header("x-ratelimit-reset", String(Math.ceil(window.resetAt / 1000)));
}
