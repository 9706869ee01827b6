// How often one may ask: a fixed window of one hour from the first request (DESIGN §7), told in three headers.
import type { FastifyReply } from "fastify";
import { RateLimitExceeded } from "./errors.ts";

export const WINDOW_MS = 3_600_000;
/** For callers without a valid key, by address; also what an answer without a key's window shows. */
export const REQUESTS_PER_HOUR_BY_ADDRESS = 500;

/** `used` counts granted requests only; `resetAt` in milliseconds since the epoch. */
export type RateWindow = { granted: boolean; used: number; resetAt: number };

/** `subject`: a key id or an address. The limit comes with each request, so a change of tier counts at once. */
export interface RateLimits {
  /** Counts one request, unless the window is full. */
  take(subject: string, limit: number, now: Date): Promise<RateWindow>;
  /** The window as it stands, counting nothing. */
  look(subject: string, limit: number, now: Date): Promise<RateWindow>;
}

/**
 * Counts the request and says so in the headers (interface, part 8).
 * @throws RateLimitExceeded
 */
export async function spend(
  limits: RateLimits,
  subject: string,
  limit: number,
  now: Date,
  reply: FastifyReply,
): Promise<void> {
  const window = await limits.take(subject, limit, now);
  showWindow(reply, limit, window);
  if (window.granted) return;
  throw new RateLimitExceeded(limit, Math.max(1, Math.ceil((window.resetAt - now.getTime()) / 1000)));
}

/** `X-RateLimit-Reset` is in Unix seconds, rounded up so that a caller who waits for it isn't early. */
export function showWindow(reply: FastifyReply, limit: number, window: RateWindow): void {
  reply.header("x-ratelimit-limit", String(limit));
  reply.header("x-ratelimit-remaining", String(Math.max(0, limit - window.used)));
  reply.header("x-ratelimit-reset", String(Math.ceil(window.resetAt / 1000)));
}

/** IPv6 callers hold whole networks, so one counts as its /64 (RFC 6177). */
export function addressSubject(ip: string): string {
  if (!ip.includes(":") || ip.includes(".")) return `address ${ip.replace(/^::ffff:/, "")}`;
  const [head = "", tail] = ip.split("::");
  const left = head.split(":");
  const right = tail === undefined ? [] : tail.split(":");
  const groups =
    tail === undefined
      ? left
      : [...left, ...Array(Math.max(0, 8 - left.length - right.length)).fill("0"), ...right];
  return `address ${groups
    .slice(0, 4)
    .map((group) => group || "0")
    .join(":")}::/64`;
}
