// The routes under /api, for a process with the api role.
import type { Backend } from "../backend.ts";
import type { BulkDeps } from "../commands/links/create-links-in-bulk.ts";
import type { Config } from "../config.ts";
import type { LogReader } from "../log-reader/log-reader.ts";
import type { Logger } from "../runtime/logging.ts";
import { analyticsRoute } from "./analytics/analytics-route.ts";
import { eventsRoute } from "./events/events-route.ts";
import type { Api } from "./fastify.ts";
import { idempotency } from "./idempotency.ts";
import type { KeyGuard, KeyGuardDeps } from "./key-guard.ts";
import { linksRoute } from "./links.ts";
import { qrRoute } from "./qr/qr-route.ts";
import { shortenInBulkRoute, shortenRoute } from "./shorten.ts";

export type ApiDeps = {
  config: Pick<Config, "baseHost" | "baseUrl">;
  backend: Omit<Backend, "close">;
  keys: KeyGuardDeps;
  links: BulkDeps;
  clock: () => Date;
  newId: () => string;
  sleep: (ms: number) => Promise<void>;
  log: Logger;
  logReader: LogReader;
  /** Read-your-writes: resolves when every link created or changed so far is projected, or after a timeout. */
  writesAreReadable: () => Promise<void>;
};

/** `base`: an instance with baseHostGate. */
export function apiRoutes(base: Api, deps: ApiDeps, guard: KeyGuard): void {
  const { config, backend, clock, newId, sleep, writesAreReadable, links } = deps;
  const { baseHost, baseUrl } = config;
  const reading = { ...backend, baseHost, baseUrl, clock, sleep, writesAreReadable };
  base.register(async (open: Api) => {
    open.addHook("onRequest", async (request, reply) => guard.countQr(request, reply));
    qrRoute(open, reading);
  });
  base.register(async (keyed: Api) => {
    keyed.addHook("onRequest", async (request, reply) => {
      reply.header("cache-control", "no-store");
      await guard.demand(request, reply);
    });
    const writing = { links, idempotency: idempotency({ secrets: backend.secrets, clock, newId }) };
    shortenRoute(keyed, writing);
    shortenInBulkRoute(keyed, writing);
    analyticsRoute(keyed, { ...reading, logParts: deps.logReader });
    linksRoute(keyed, reading);
    eventsRoute(keyed, { ...reading, ...deps, findCaller: deps.keys.findCaller });
  });
}
