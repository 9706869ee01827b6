// The routes under /api, for a process with the api role.

import type { CreateLinkDeps } from "../commands/links/create-link.ts";
import type { Mailer } from "../commands/mail/mailer.ts";
import type { Config } from "../config/config.ts";
import { openExports } from "../limits/exports.ts";
import type { DrawQr } from "../qr/draw-qr.ts";
import type { LogReader } from "../queries/log-reader/log-reader.ts";
import type { Logger } from "../runtime/logging.ts";
import type { Counts } from "../stores/counts/counts.ts";
import type { EventStore } from "../stores/event-store/port.ts";
import type { ReadStore } from "../stores/read-store/port.ts";
import type { Secrets } from "../stores/secrets/port.ts";
import { accountAnalyticsRoutes } from "./analytics/account-routes.ts";
import { analyticsRoutes } from "./analytics/analytics-route.ts";
import { changesRoutes } from "./analytics/changes-route.ts";
import { sharedPagesRoutes } from "./analytics/shared-pages-route.ts";
import { eventsRoute } from "./events/events-route.ts";
import type { Api } from "./fastify.ts";
import { idempotency, takeIdempotencyKey } from "./idempotency.ts";
import type { KeyGuard, KeyGuardDeps } from "./key-guard.ts";
import { changeInBulkRoutes } from "./links/bulk-routes.ts";
import { historyRoute } from "./links/history-route.ts";
import { changeLinkRoutes, readLinkRoute } from "./links/life-routes.ts";
import { listLinksRoute } from "./links/list-route.ts";
import { proofRoute } from "./links/proof-route.ts";
import { qrRoute } from "./links/qr-route.ts";
import { savedFilterRoutes } from "./links/saved-filter-routes.ts";
import { tagRoutes } from "./links/tag-routes.ts";
import { memberRoutes } from "./members/member-routes.ts";
import { linkPages } from "./page-links.ts";
import { scopeOf, scopeRoutes } from "./route-scopes.ts";
import { shortenInBulkRoute, shortenRoute } from "./shorten.ts";

export type ApiDeps = {
  config: Pick<Config, "baseHost" | "baseUrl">;
  backend: { eventStore: EventStore; readStore: ReadStore; secrets: Secrets };
  keys: KeyGuardDeps;
  links: CreateLinkDeps;
  /** `listener`: called when keys of an account may do more or less than before. */
  onCallersChanged: (listener: (accountId: string) => void) => void;
  /** Shared by all processes: of open streams. */
  counts: Counts;
  clock: () => Date;
  newId: () => string;
  sleep: (ms: number) => Promise<void>;
  log: Logger;
  /** Undefined where SMTP_URL is unset. */
  mailer: Mailer | undefined;
  logReader: LogReader;
  drawQr: DrawQr;
  /** Read-your-writes: resolves when every link created or changed so far is projected, or after a timeout. */
  writesAreReadable: () => Promise<boolean>;
  /** Resolves when the processes of this service on this machine go by what is in the log now. */
  changesAreFollowed: () => Promise<void>;
};

/** `base`: an instance with baseHostGate. */
export function apiRoutes(base: Api, deps: ApiDeps, guard: KeyGuard): void {
  const { config, backend, clock, newId, sleep, writesAreReadable, links, logReader, mailer, log } = deps;
  const { baseHost, baseUrl } = config;
  const { currentAccount } = links;
  const reading = {
    ...backend,
    baseHost,
    baseUrl,
    clock,
    sleep,
    writesAreReadable,
    currentAccount,
    logReader,
  };
  const life = { ...reading, links, changesAreFollowed: deps.changesAreFollowed };
  base.register(async (open: Api) => {
    open.addHook("onRequest", async (request, reply) => guard.countQr(request, reply));
    qrRoute(open, { ...reading, drawQr: deps.drawQr });
  });
  base.register(async (keyed: Api) => {
    const repeatable = idempotency({ secrets: backend.secrets, clock, newId });
    scopeRoutes(keyed);
    keyed.addHook("onRoute", (route) => takeIdempotencyKey(route, repeatable));
    keyed.addHook("onRequest", async (request, reply) => {
      reply.header("cache-control", "no-store");
      await guard.demand(request, reply, scopeOf(request.routeOptions.config));
    });
    keyed.addHook("preSerialization", linkPages);
    shortenRoute(keyed, links);
    shortenInBulkRoute(keyed, links);
    analyticsRoutes(keyed, reading);
    const exports = openExports(deps);
    keyed.addHook("preClose", async () => exports.close());
    accountAnalyticsRoutes(keyed, { ...reading, exports });
    changesRoutes(keyed, reading);
    listLinksRoute(keyed, reading);
    readLinkRoute(keyed, life);
    changeLinkRoutes(keyed, life);
    changeInBulkRoutes(keyed, life);
    historyRoute(keyed, life);
    proofRoute(keyed, { ...reading, exports });
    tagRoutes(keyed, { ...life, idempotency: repeatable });
    memberRoutes(keyed, { ...life, mailer, log, rateLimits: deps.keys.rateLimits });
    sharedPagesRoutes(keyed, { ...life, idempotency: repeatable });
    savedFilterRoutes(keyed, life);
    eventsRoute(keyed, { ...reading, ...deps, findCaller: deps.keys.findCaller });
  });
}
