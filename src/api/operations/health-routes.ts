// GET /health/live and /health/ready on every host, for load balancers and orchestrators.

import { VERSION } from "../../config/version.ts";
import type { Readiness } from "../../monitoring/health.ts";
import { atMostEvery } from "../../runtime/at-most-every.ts";
import type { Api } from "../fastify.ts";
import { isFromOperator, type OperatorDeps } from "./operator-request.ts";

/** Readiness is computed at most this often, because it queries every store. */
const READINESS_EVERY_MS = 1_000;
/** Until it is ready for the first time, so that nobody waits a second longer than it takes to start. */
const READINESS_AT_START_EVERY_MS = 100;

type Deps = { readiness: () => Promise<Readiness>; operator: OperatorDeps };

/**
 * `degraded` is 200, so that a load balancer goes on sending redirects. Anybody gets the status; the
 * version and the reasons are shown only to the operator (operator-request.ts).
 */
export function healthRoutes(app: Api, deps: Deps): void {
  const throttled = (ms: number) => atMostEvery(ms, () => performance.now(), deps.readiness);
  const [atStart, later] = [throttled(READINESS_AT_START_EVERY_MS), throttled(READINESS_EVERY_MS)];
  let hasBeenReady = false;
  const readiness = async () => {
    const found = await (hasBeenReady ? later() : atStart());
    hasBeenReady ||= found.ready;
    return found;
  };
  const schema = { hide: true };
  app.get("/health/live", { schema }, async (_request, reply) => {
    return reply.header("cache-control", "no-store").send({ status: "live" });
  });

  app.get("/health/ready", { schema }, async (request, reply) => {
    const { ready, reasons, degraded } = await readiness();
    const details = { version: VERSION, reasons, ...(degraded.length > 0 ? { degraded } : {}) };
    return reply
      .code(ready ? 200 : 503)
      .header("cache-control", "no-store")
      .send({
        status: !ready ? "not ready" : degraded.length > 0 ? "degraded" : "ready",
        ...((await isFromOperator(deps.operator, request)) ? details : {}),
      });
  });
}
