// Recognises requests of the operator: from this machine, or with the operator's token.
import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";

/**
 * Any of these headers means a proxy forwarded the request: with a proxy on this machine every visitor would look
 * local.
 */
const FORWARDING_HEADERS = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "via",
];

/** From this machine, or with `Authorization: Bearer <adminToken>`; with `adminToken` unset no header matches. */
export function isFromOperator(request: FastifyRequest, adminToken: string | undefined): boolean {
  const given = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
  return isFromThisMachine(request) || isSameSecret(given, adminToken);
}

/** A loopback peer without forwarding headers. */
export function isFromThisMachine({ headers, socket }: FastifyRequest): boolean {
  const peer = socket.remoteAddress?.replace(/^::ffff:/, "") ?? "";
  const isForwarded = FORWARDING_HEADERS.some((name) => headers[name] !== undefined);
  return !isForwarded && (peer.startsWith("127.") || peer === "::1");
}

/** Constant-time comparison, over digests because timingSafeEqual needs equal lengths. */
export function isSameSecret(given: string | undefined, wanted: string | undefined): boolean {
  if (given === undefined || wanted === undefined) return false;
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
