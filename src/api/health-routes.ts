// GET /health/live and /health/ready, on any host: what load balancers and orchestrators ask.
import type { Readiness } from "../health.ts";
import type { Api } from "./fastify.ts";

export function healthRoutes(app: Api, deps: { readiness: () => Promise<Readiness> }): void {
  const schema = { hide: true };
  app.get("/health/live", { schema }, async (_request, reply) => {
    return reply.header("cache-control", "no-store").send({ status: "live" });
  });

  app.get("/health/ready", { schema }, async (_request, reply) => {
    const { ready, reasons, degraded } = await deps.readiness();
    return reply
      .code(ready ? 200 : 503)
      .header("cache-control", "no-store")
      .send({
        status: ready ? "ready" : "not ready",
        reasons,
        ...(degraded.length > 0 ? { degraded } : {}),
      });
  });
}
