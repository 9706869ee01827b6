// Hooks of the base host: other hosts are refused before any body is read, and each answer is counted and logged.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Metrics } from "../../monitoring/metrics.ts";
import { hostResolver } from "../../redirect/http/hosts.ts";
import { Refused } from "../../runtime/refused.ts";
import { isUnderApi } from "../create-fastify.ts";
import type { Api } from "../fastify.ts";
import type { KeyGuard } from "./key-guard.ts";

/** For all routes of the base host. Its 404 of unknown paths under /api carries rate limit headers too. */
export function baseHostGate(
  app: Api,
  deps: {
    baseHost: string;
    /** Undefined in a process without the api role. */
    guard: KeyGuard | undefined;
    metrics: Metrics;
    /** Answers requests for other hosts, such as custom domains; false when it did not send a reply. */
    otherHost: ((request: FastifyRequest, reply: FastifyReply) => Promise<boolean>) | undefined;
  },
): void {
  const hostOf = hostResolver(deps.baseHost);
  const baseHost = hostOf(deps.baseHost);
  const { guard, metrics } = deps;
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-content-type-options", "nosniff");
    if (hostOf(request.host ?? "") !== baseHost) {
      if (await deps.otherHost?.(request, reply)) return reply;
      throw new Refused("not_found");
    }
    if (!request.is404) return undefined;
    if (guard && isUnderApi(request.url)) await guard.count(request, reply);
    // For unknown pages portal and console have their own not-found handlers, which answer with HTML.
    const isPage = request.url.startsWith("/portal/") || request.url.startsWith("/admin/");
    if (request.method !== "GET" || !isPage) throw new Refused("not_found");
    return undefined;
  });
  app.addHook("onResponse", async (request, reply) => {
    const route = request.routeOptions.url ?? "(unknown)";
    metrics.requested(request.method, route, reply.statusCode, reply.elapsedTime / 1000);
    const answer = {
      method: request.method,
      route,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    };
    request.log.info(answer, "answered");
  });
  app.setNotFoundHandler(() => {
    throw new Refused("not_found");
  });
}
