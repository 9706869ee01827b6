// onRequest hooks that check host, API key and rate limit before any body is read.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Metrics } from "../../monitoring/metrics.ts";
import { hostResolver } from "../../redirect/http/hosts.ts";
import { isUnderApi } from "../create-fastify.ts";
import { RouteNotFound } from "../errors.ts";
import type { Api } from "../fastify.ts";
import type { KeyGuard } from "./key-guard.ts";

export type KeyGates = ReturnType<typeof keyGates>;

/**
 * Each method adds its hooks to an encapsulated Fastify instance. `guard`: undefined in a process without the api role.
 */
export function gate(deps: {
  baseHost: string;
  guard: KeyGuard | undefined;
  metrics: Metrics;
  /** Answers requests for other hosts, such as custom domains; false when it did not send a reply. */
  otherHost?: ((request: FastifyRequest, reply: FastifyReply) => Promise<boolean>) | undefined;
}) {
  const hostOf = hostResolver(deps.baseHost);
  const baseHost = hostOf(deps.baseHost);
  const { guard, metrics } = deps;

  return {
    /** For all routes of the base host. Its 404 of unknown paths under /api carries rate limit headers too. */
    baseHost(app: Api): void {
      app.addHook("onRequest", async (request, reply) => {
        reply.header("x-content-type-options", "nosniff");
        if (hostOf(request.host ?? "") !== baseHost) {
          if (await deps.otherHost?.(request, reply)) return reply;
          throw new RouteNotFound();
        }
        if (!request.is404) return undefined;
        if (guard && isUnderApi(request.url)) await guard.count(request, reply);
        // For unknown pages portal and console have their own not-found handlers, which answer with HTML.
        const isPage = request.url.startsWith("/portal/") || request.url.startsWith("/admin/");
        if (request.method !== "GET" || !isPage) throw new RouteNotFound();
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
        throw new RouteNotFound();
      });
    },
  };
}

/** Hooks of the routes under /api, in addition to those of `gate`. */
export function keyGates(guard: KeyGuard) {
  return {
    withKey(app: Api): void {
      app.addHook("onRequest", async (request, reply) => {
        reply.header("cache-control", "no-store");
        await guard.demand(request, reply);
      });
    },

    qrImages(app: Api): void {
      app.addHook("onRequest", async (request: FastifyRequest, reply: FastifyReply) =>
        guard.countQr(request, reply),
      );
    },
  };
}
