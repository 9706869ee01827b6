// GET /metrics, for a scraper on this machine or with the operator's token.
import type { Metrics } from "../../monitoring/metrics.ts";
import { Refused } from "../../runtime/refused.ts";
import type { Api } from "../fastify.ts";
import { isFromOperator, type OperatorDeps } from "./operator-request.ts";

type Deps = Pick<Metrics, "contentType" | "text"> & { operator: OperatorDeps };

/** Anybody else gets 404, which does not reveal that the route exists. */
export function metricsRoute(app: Api, deps: Deps): void {
  app.get("/metrics", { schema: { hide: true } }, async (request, reply) => {
    if (!(await isFromOperator(deps.operator, request))) throw new Refused("not_found");
    return reply.type(deps.contentType).send(await deps.text());
  });
}
