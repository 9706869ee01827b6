// Routes for those who run the service: health, metrics, and which names may get a certificate.
import { z } from "zod";
import { Refused } from "../../commands/refusals.ts";
import { VERSION } from "../../config/version.ts";
import { domainsInService } from "../../queries/domains.ts";
import { canonicalHost } from "../../runtime/addresses/host-name.ts";
import { atMostEvery } from "../../runtime/at-most-every.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import type { Api } from "../fastify.ts";
import { isFromOperator, isFromThisMachine, isSameSecret, type OperatorDeps } from "./operator-request.ts";
import type { Problem } from "./problems.ts";

/** Readiness is computed at most this often, because it queries every store. */
const READINESS_EVERY_MS = 250;

const Ask = z.object({ domain: z.string().max(300).default(""), secret: z.string().max(200).optional() });

/**
 * GET /health/live and /health/ready on every host, for load balancers and orchestrators. `degraded` is 200, so that a load
 * balancer goes on sending redirects. Anybody gets the status; the version and the reasons are shown only to the operator.
 */
export function healthRoutes(
  app: Api,
  deps: { problems: () => Promise<Problem[]>; operator: OperatorDeps },
): void {
  const problems = atMostEvery(READINESS_EVERY_MS, deps.problems);
  const schema = { hide: true };
  app.get("/health/live", { schema }, async (_request, reply) => {
    return reply.header("cache-control", "no-store").send({ status: "live" });
  });

  app.get("/health/ready", { schema }, async (request, reply) => {
    const current = await problems();
    const of = (wanted: Problem["level"]) =>
      current.filter(({ level }) => level === wanted).map(({ part, reason }) => ({ part, reason }));
    const [reasons, degraded] = [of("unready"), of("degraded")];
    const ready = reasons.length === 0;
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

/** GET /metrics, for the operator. Anybody else gets 404, which does not reveal that the route exists. */
export function metricsRoute(
  app: Api,
  deps: { contentType: string; text: () => Promise<string>; operator: OperatorDeps },
): void {
  app.get("/metrics", { schema: { hide: true } }, async (request, reply) => {
    if (!(await isFromOperator(deps.operator, request))) throw new Refused("not_found");
    return reply.type(deps.contentType).send(await deps.text());
  });
}

/**
 * GET /internal/tls/ask?domain=: whether a TLS proxy may obtain a certificate for a name (Caddy's on-demand TLS). 200 for
 * verified active domains, 404 for every other name, 403 unless the request comes from this machine (and is not forwarded) or
 * carries the secret.
 */
export function tlsAskRoute(app: Api, deps: { readStore: ReadStore; secret: string | undefined }): void {
  app.get("/internal/tls/ask", { schema: { hide: true, querystring: Ask } }, async (request, reply) => {
    const { domain, secret } = request.query;
    reply.header("cache-control", "no-store").type("text/plain; charset=utf-8");
    if (!isFromThisMachine(request) && !isSameSecret(secret, deps.secret))
      return reply.code(403).send("forbidden\n");
    const hostname = canonicalHost(domain);
    const domains = hostname === "" ? [] : await domainsInService(deps, hostname);
    return domains.length > 0 ? reply.send("yes\n") : reply.code(404).send("no\n");
  });
}
