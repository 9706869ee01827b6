// Who may see what is for the operator: a program on this machine, or who shows the secret for it.
import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";

/** Whatever a proxy tells of whom it speaks for: a proxy on this machine would make every visitor local. */
const FORWARDING_HEADERS = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "via",
];

/** From this machine, or with `Authorization: Bearer` and the token; nobody has a token that is unset. */
export function isFromOperator(request: FastifyRequest, adminToken: string | undefined): boolean {
  const given = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
  return isFromThisMachine(request) || isSameSecret(given, adminToken);
}

/** The peer itself, and nobody for whom it forwards the request. */
export function isFromThisMachine({ headers, socket }: FastifyRequest): boolean {
  const peer = socket.remoteAddress?.replace(/^::ffff:/, "") ?? "";
  const isForwarded = FORWARDING_HEADERS.some((name) => headers[name] !== undefined);
  return !isForwarded && (peer.startsWith("127.") || peer === "::1");
}

/** Over digests, so that the time taken tells nothing of either. */
export function isSameSecret(given: string | undefined, wanted: string | undefined): boolean {
  if (given === undefined || wanted === undefined) return false;
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
