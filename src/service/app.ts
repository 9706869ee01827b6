// The roles other than redirect, and the Fastify instance with all routes; loaded while redirects are answered already.
import { setImmediate } from "node:timers/promises";
import { baseHostGate, createFastify } from "../api/create-fastify.ts";
import { documentsBehindHeader } from "../api/documents-behind-header.ts";
import type { Api } from "../api/fastify.ts";
import { keyGuard } from "../api/key-guard.ts";
import { healthRoutes, metricsRoute, tlsAskRoute } from "../api/operations/operations-routes.ts";
import type { Problem } from "../api/operations/problems.ts";
import type { RequestIdOf } from "../api/request-id.ts";
import { siteRoutes } from "../api/site-routes.ts";
import { withoutAccount } from "../portal/account-address.ts";
import type { PortalDeps } from "../portal/portal-deps.ts";
import { countBehind } from "../projections/builds/status.ts";
import { projectionGroups } from "../projections/groups.ts";
import { documentsBehind } from "../queries/documents-behind.ts";
import { domainHome } from "../redirect/http/domain-home.ts";
import type { Trust } from "../redirect/http/requester.ts";
import type { LogFollower } from "../stores/coordination/log-follower.ts";
import { createMetrics } from "./monitoring/metrics.ts";
import { type Observer, observer } from "./monitoring/observe.ts";
import { problemsOf } from "./monitoring/parts.ts";
import type { RedirectRole } from "./roles/redirect.ts";
import type { RoleContext } from "./roles/role-context.ts";
import type { BackgroundStatus } from "./roles/work-in-background.ts";

/** What service.ts has opened before this file is loaded. */
export type AppDeps = {
  context: RoleContext;
  follower: LogFollower;
  /** Undefined without the role; slugs answer 404 then. */
  redirect: RedirectRole | undefined;
  background: BackgroundStatus;
  trust: false | Trust;
  requestIdOf: RequestIdOf;
};

/**
 * Resolves when requests can be handled. Health and redirects answer on any host, other routes on the base host only;
 * /api, /docs and /portal have routes with their roles only.
 */
export async function openApp(deps: AppDeps): Promise<Api> {
  const { context, redirect, requestIdOf, trust } = deps;
  const { config, backend, log, clock, group, rateLimits } = context;
  const { readStore } = backend;
  const { api, portal } = await openRoles(deps);
  const observed = observerOf(deps, portal);
  const metrics = createMetrics({ observer: observed, appendDuration: redirect?.recorder.appendDuration });
  group?.answerMetrics(metrics.json);
  const guard = api && keyGuard(api.keys);
  const app = createFastify({ log, requestIdOf, trust, showWindow: guard?.show, routedAs: withoutAccount });
  const openApi = api && (await loaded(import("../api/openapi/openapi.ts")));
  await openApi?.openApiDocument(app, config.baseUrl);
  const operator = { rateLimits, clock, adminToken: config.adminToken };
  healthRoutes(app, { problems: async () => problemsOf(await observed.look()), operator });
  tlsAskRoute(app, { readStore, secret: config.tlsAskSecret });
  const { baseHost } = config;
  const otherHost =
    redirect &&
    domainHome({ readStore, baseHost, domains: redirect.lookup.domains, brands: redirect.brands });
  await app.register(async (base: Api) => {
    baseHostGate(base, { baseHost, guard, metrics, otherHost });
    documentsBehindHeader(base, documentsBehind({ ...backend, groups: projectionGroups, clock }));
    siteRoutes(base);
    const text = group ? group.metricsText : metrics.text;
    metricsRoute(base, { contentType: metrics.contentType, text, operator });
    if (api && guard) {
      openApi?.openApiRoute(base);
      (await loaded(import("../api/docs/docs-routes.ts"))).docsRoutes(base, config.limits);
      (await loaded(import("../api/client-package/client-package.ts"))).clientPackageRoute(base);
      const { apiRoutes } = await loaded(import("../api/api-routes.ts"));
      apiRoutes(base, api, guard);
    }
    if (portal) {
      const { portalRoutes } = await loaded(import("../portal/portal.ts"));
      await portalRoutes(base, { ...portal, problems: (of) => problemsFor(observed, of) });
    }
  });
  await app.ready();
  return app;
}

async function openRoles({ context, follower }: AppDeps) {
  const { roles } = context;
  if (!(roles.has("api") || roles.has("portal"))) return {};
  const { openWriting } = await loaded(import("./roles/writing.ts"));
  const writing = openWriting(context, follower);
  return {
    api: roles.has("api")
      ? (await loaded(import("./roles/api.ts"))).openApi(context, writing, follower)
      : undefined,
    portal: roles.has("portal")
      ? await (await loaded(import("./roles/portal.ts"))).openPortal(context, writing)
      : undefined,
  };
}

function observerOf({ context, redirect, background }: AppDeps, portal: PortalDeps | undefined): Observer {
  const { roles, redis, backend, counts, config, clock, health } = context;
  const { eventStore, readStore, deliveryQueue } = backend;
  return observer({
    ...{ clock, dataDir: config.dataDir, eventStore, readStore, deliveryQueue },
    ...background,
    processState: () => ({
      roles,
      log: health.problems(),
      redisUnavailable: redis?.unavailable,
      limits: counts.problem,
      redirects: redirect?.stats,
      roleProblems: background.roleProblems(),
      provider: portal?.oidc?.client.look(),
    }),
    eventsBehind: (status) => countBehind(eventStore, groupNamed(status.name), status),
    recorder: redirect && (() => redirect.recorder.status()),
    wasLogRead: health.wasRead,
    sealKeys: portal?.sealKeys ?? [],
    verification: portal?.verifications.read,
  });
}

/** For the operator with notices, which cost more. */
async function problemsFor(observed: Observer, reader: "public" | "operator"): Promise<Problem[]> {
  if (reader === "public") return problemsOf(await observed.look());
  const [seen, more] = await Promise.all([observed.look(), observed.lookAsOperator()]);
  return problemsOf(seen, more);
}

function groupNamed(name: string) {
  return projectionGroups.find((group) => group.name === name) ?? { categories: [] };
}

/** Yields to the event loop after an import, which blocks it, so that waiting redirects are answered in between. */
async function loaded<T>(module: Promise<T>): Promise<T> {
  const exports = await module;
  await setImmediate();
  return exports;
}
