// The Fastify instance: every route registered by hand, and which of them answer on which host.
import { analyticsRoute } from "./api/analytics.ts";
import { gate, type KeyGates, keyGates } from "./api/authentication/gate.ts";
import { type KeyGuardDeps, keyGuard } from "./api/authentication/key-guard.ts";
import { createFastify } from "./api/create-fastify.ts";
import type { Api } from "./api/fastify.ts";
import { idempotency } from "./api/idempotency.ts";
import { linksRoute } from "./api/links.ts";
import { openApiDocument, openApiRoutes } from "./api/openapi.ts";
import { healthRoutes } from "./api/operations/health-routes.ts";
import { metricsRoute } from "./api/operations/metrics-route.ts";
import { tlsAskRoute } from "./api/operations/tls-ask-route.ts";
import { qrRoute } from "./api/qr/qr-route.ts";
import { requestIds } from "./api/request-id.ts";
import { shortenRoute } from "./api/shorten.ts";
import { shortenInBulkRoute } from "./api/shorten-in-bulk.ts";
import { siteRoutes } from "./api/site-routes.ts";
import type { Backend } from "./backend.ts";
import type { BulkDeps } from "./commands/links/create-links-in-bulk.ts";
import type { Config } from "./config.ts";
import type { Readiness } from "./monitoring/health.ts";
import type { Metrics } from "./monitoring/metrics.ts";
import { portalRoutes } from "./portal/portal.ts";
import type { PortalDeps } from "./portal/portal-deps.ts";
import { domainHome } from "./redirect/http/domain-home.ts";
import { type RedirectDeps, redirectHandler } from "./redirect/http/redirect-handler.ts";
import { requesterOf, trustOf } from "./redirect/http/requester.ts";
import type { DomainRouting } from "./redirect/lookup/domain-routing.ts";
import type { Logger } from "./runtime/logging.ts";

export type AppDeps = {
  config: Config;
  backend: Omit<Backend, "close">;
  log: Logger;
  clock: () => Date;
  newId: () => string;
  sleep: (ms: number) => Promise<void>;
  /** Undefined without the role, and then nothing is under /portal. */
  portal: PortalDeps | undefined;
  metrics: Metrics;
  readiness: () => Promise<Readiness>;
  /** Undefined without the role: slugs answer 404. */
  redirect: (RedirectDeps & { domains: Pick<DomainRouting, "serves"> }) | undefined;
  /** Undefined without the role: nothing is under /api or /docs. */
  api: ApiDeps | undefined;
};

export type ApiDeps = {
  keys: KeyGuardDeps;
  links: BulkDeps;
  /** Settles when every link made or changed so far is in the documents, or when that takes too long. */
  writesAreReadable: () => Promise<void>;
};

/** Not listening yet. Health and redirects answer on any host, all else on the base host only (DESIGN §5). */
export async function buildApp(deps: AppDeps): Promise<Api> {
  const { config, log, newId, api } = deps;
  const guard = api && keyGuard(api.keys);
  const trust = trustOf(config.trustProxy);
  const requestIdOf = requestIds(newId());
  const redirect =
    deps.redirect && redirectHandler({ ...deps.redirect, requester: requesterOf(trust), requestIdOf, log });
  const app = createFastify({ log, requestIdOf, trust, showWindow: guard?.show, redirect });
  if (api) await openApiDocument(app, config.baseUrl);
  healthRoutes(app, { readiness: deps.readiness, adminToken: config.adminToken });
  const { readStore } = deps.backend;
  tlsAskRoute(app, { readStore, secret: config.tlsAskSecret });
  const gates = gate({
    baseHost: config.baseHost,
    guard,
    metrics: deps.metrics,
    otherHost:
      deps.redirect && domainHome({ readStore, baseHost: config.baseHost, domains: deps.redirect.domains }),
  });
  await app.register(async (base: Api) => {
    gates.baseHost(base);
    siteRoutes(base);
    metricsRoute(base, { metrics: deps.metrics, adminToken: config.adminToken });
    if (api && guard) {
      await openApiRoutes(base);
      apiRoutes(base, deps, api, keyGates(guard));
    }
    if (deps.portal) await portalRoutes(base, deps.portal);
  });
  return app;
}

function apiRoutes(base: Api, deps: AppDeps, api: ApiDeps, gates: KeyGates): void {
  const { config, backend, clock, newId, sleep } = deps;
  const { baseHost, baseUrl } = config;
  const { writesAreReadable, links } = api;
  const reading = { ...backend, baseHost, baseUrl, clock, sleep, writesAreReadable };
  base.register(async (open: Api) => {
    gates.qrImages(open);
    qrRoute(open, reading);
  });
  base.register(async (keyed: Api) => {
    gates.withKey(keyed);
    const writing = {
      links,
      idempotency: idempotency({ secrets: backend.secrets, clock, newId }),
    };
    shortenRoute(keyed, writing);
    shortenInBulkRoute(keyed, writing);
    analyticsRoute(keyed, reading);
    linksRoute(keyed, reading);
  });
}
