// Recognises requests of the operator: from this machine, or with the operator's token, wrong ones of which are counted.
import { hash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { isRefused } from "../../commands/refusals.ts";
import { byAddress, type CountDeps, refuseTries } from "../../limits/rate-limit.ts";
import { bearerToken } from "../key-guard.ts";

/** `adminToken`: unset, no token is right, and none is counted. */
export type OperatorDeps = CountDeps & { adminToken: string | undefined };

/** Per hour and client address, on all routes together. The token has no account to lock out, and 16 characters at least. */
const MOST_TRIES = 15;
const TRIES = "operator-sign-in";

/**
 * Any of these headers means a proxy forwarded the request: with a proxy on this machine every visitor would look
 * local.
 */
const FORWARDING_HEADERS = "forwarded x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip via".split(
  " ",
);

/** From this machine, or with `Authorization: Bearer <adminToken>` from an address that has tries left. */
export async function isFromOperator(deps: OperatorDeps, request: FastifyRequest): Promise<boolean> {
  if (isFromThisMachine(request)) return true;
  const token = bearerToken(request);
  if (token === undefined || deps.adminToken === undefined) return false;
  return await isAdminToken(deps, request, token).catch((error: unknown) => {
    if (isRefused(error, "rate_limit_exceeded")) return false;
    throw error;
  });
}

/**
 * Compares in constant time, and counts a wrong token. An address without tries is refused before that: were the right
 * token let in, its answer would tell it from the wrong ones, and guessing had no limit. @throws rate_limit_exceeded
 */
export async function isAdminToken(
  { rateLimits, clock, adminToken }: OperatorDeps,
  request: FastifyRequest,
  token: string,
): Promise<boolean> {
  const now = clock();
  const subject = byAddress(TRIES, request.ip);
  refuseTries(await rateLimits.take(subject, MOST_TRIES, now, 0), now);
  if (isSameSecret(token, adminToken)) return true;
  await rateLimits.take(subject, MOST_TRIES, now);
  return false;
}

/** A loopback peer without forwarding headers. */
export function isFromThisMachine({ headers, socket }: FastifyRequest): boolean {
  const peer = socket.remoteAddress?.replace(/^::ffff:/, "") ?? "";
  const isForwarded = FORWARDING_HEADERS.some((name) => headers[name] !== undefined);
  return !isForwarded && (peer.startsWith("127.") || peer === "::1");
}

/** Constant-time comparison, over digests because timingSafeEqual needs equal lengths. */
export function isSameSecret(secret: string | undefined, wanted: string | undefined): boolean {
  if (secret === undefined || wanted === undefined) return false;
  const digest = (text: string) => hash("sha256", text, "buffer");
  return timingSafeEqual(digest(secret), digest(wanted));
}
