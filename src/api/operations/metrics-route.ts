// GET /metrics: for a scraper on this machine, or one that knows the operator's token.
import type { Metrics } from "../../monitoring/metrics.ts";
import { RouteNotFound } from "../errors.ts";
import type { Api } from "../fastify.ts";
import { isFromOperator } from "./operator-request.ts";

type Deps = { metrics: Metrics; adminToken: string | undefined };

/** Strangers get 404, so that they don't learn that there is something to ask for. */
export function metricsRoute(app: Api, deps: Deps): void {
  app.get("/metrics", { schema: { hide: true } }, async (request, reply) => {
    if (!isFromOperator(request, deps.adminToken)) throw new RouteNotFound();
    return reply.type(deps.metrics.contentType).send(await deps.metrics.text());
  });
}
