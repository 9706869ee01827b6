// What a request passes before its route: the host, the key, the hour's limit; all before any body is read.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Metrics } from "../../monitoring/metrics.ts";
import { hostResolver } from "../../redirect/http/hosts.ts";
import { isUnderApi } from "../create-fastify.ts";
import { RouteNotFound } from "../errors.ts";
import type { Api } from "../fastify.ts";
import type { KeyGuard } from "./key-guard.ts";

export type KeyGates = ReturnType<typeof keyGates>;

/** Puts its hooks on an encapsulated instance; routes registered on that pass them. `guard`: of the api role. */
export function gate(deps: {
  baseHost: string;
  guard: KeyGuard | undefined;
  metrics: Metrics;
  /** Tries to answer what came for another host; true when it has. */
  otherHost?: ((request: FastifyRequest, reply: FastifyReply) => Promise<boolean>) | undefined;
}) {
  const hostOf = hostResolver(deps.baseHost);
  const baseHost = hostOf(deps.baseHost);
  const { guard, metrics } = deps;

  return {
    /** Also where unknown addresses end, so that those under /api show a rate window too. */
    baseHost(app: Api): void {
      app.addHook("onRequest", async (request, reply) => {
        reply.header("x-content-type-options", "nosniff");
        if (hostOf(request.host ?? "") !== baseHost) {
          if (await deps.otherHost?.(request, reply)) return reply;
          throw new RouteNotFound();
        }
        if (!request.is404) return undefined;
        if (guard && isUnderApi(request.url)) await guard.count(request, reply);
        // The portal answers people who lost their way with a page of its own.
        if (request.method !== "GET" || !request.url.startsWith("/portal/")) throw new RouteNotFound();
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

/** As gate: what a request under /api passes besides. */
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
