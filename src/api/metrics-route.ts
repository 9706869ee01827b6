// GET /metrics: for a scraper on this machine, or one that knows the operator's token.
import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Metrics } from "../metrics.ts";
import { RouteNotFound } from "./errors.ts";
import type { Api } from "./fastify.ts";

type Deps = { metrics: Metrics; adminToken: string | undefined };

/** Strangers get 404, so that they don't learn that there is something to ask for. */
export function metricsRoute(app: Api, deps: Deps): void {
  app.get("/metrics", { schema: { hide: true } }, async (request, reply) => {
    if (!isLoopbackPeer(request) && !hasToken(request, deps.adminToken)) throw new RouteNotFound();
    return reply.type(deps.metrics.contentType).send(await deps.metrics.text());
  });
}

/** The peer itself, and not through a proxy on this machine, which would make every visitor local. */
function isLoopbackPeer(request: FastifyRequest): boolean {
  const forwarded = request.headers["x-forwarded-for"] ?? request.headers.forwarded;
  const peer = request.socket.remoteAddress?.replace(/^::ffff:/, "") ?? "";
  return forwarded === undefined && (peer.startsWith("127.") || peer === "::1");
}

function hasToken(request: FastifyRequest, token: string | undefined): boolean {
  const given = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
  if (!token || !given) return false;
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(token), digest(given));
}
