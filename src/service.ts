// One running service: stores, the roles it was given and the HTTP server, opened in order and closed in reverse.
import { setImmediate } from "node:timers/promises";
import { requestIds } from "./api/request-id.ts";
import { areStoresMixed } from "./backend/prepare-stores.ts";
import { type Backend, openBackend } from "./backend.ts";
import { runtimeDeps } from "./commands/runtime-deps.ts";
import { BadConfig, type Config, secretKeyOf } from "./config.ts";
import { httpServer } from "./redirect/http/http-server.ts";
import { redirectHandler } from "./redirect/http/redirect-handler.ts";
import { requesterOf, trustOf } from "./redirect/http/requester.ts";
import { awaitStores } from "./roles/await-stores.ts";
import { openLogFollower } from "./roles/log-follower.ts";
import { openProjector, watchProjector } from "./roles/projector.ts";
import { openRedirect } from "./roles/redirect.ts";
import { ALL_ROLES, type Roles } from "./roles/role.ts";
import type { RoleContext } from "./roles/role-context.ts";
import { openWebhooks } from "./roles/webhooks.ts";
import type { Logger } from "./runtime/logging.ts";
import { pause } from "./runtime/pause.ts";
import { type Close, stopInStages } from "./runtime/stop-in-stages.ts";

export type Service = {
  /** Where it listens, such as http://127.0.0.1:3000. */
  url: string;
  backend: Backend;
  /** Finishes open requests, commits every click, ends threads, then closes stores, all within STOP_SECONDS. */
  stop(): Promise<void>;
};

/** Of the stop's budget: when open requests, and then the roles, must be done. Stores have the rest. */
const REQUESTS_UNTIL = 3 / 8;
const ROLES_UNTIL = 7 / 8;

/** What a server of mixed stores that is away may hold up the start. */
const LONGEST_ASKING_MS = 2_000;

export type ServiceOptions = {
  /** All by default. */
  roles?: Roles;
  /** What rate windows, links and analytics go by. */
  clock?: () => Date;
};

/**
 * Listens also while servers of its stores are away: /health/ready tells until they answer.
 * @throws what listening throws, with all closed again
 */
export async function openService(
  given: Config,
  log: Logger,
  options: ServiceOptions = {},
): Promise<Service> {
  const { roles = ALL_ROLES, clock = runtimeDeps.clock } = options;
  const config: Config = { ...given, secretKey: secretKeyOf(given) };
  const requests: Close[] = [];
  const ofRoles: Close[] = [];
  const stores: Close[] = [];
  const stop = () =>
    stopInStages({ now: () => performance.now(), sleep: pause, log }, config.stopSeconds * 1_000, [
      { closers: requests.splice(0), until: REQUESTS_UNTIL },
      { closers: ofRoles.splice(0), until: ROLES_UNTIL },
      { closers: stores.splice(0), until: 1 },
    ]);
  try {
    const warn = (message: string) => log.warn(message);
    const backend = await openBackend(config, { offThread: true, log: warn });
    stores.push(() => backend.close());
    if (areStoresMixed(config)) await refuseSplitStores(backend);
    const onStop = (close: Close) => void ofRoles.push(close);
    const onStopOfRequests = (close: Close) => void requests.push(close);
    const context: RoleContext = { config, log, clock, backend, roles, onStop };
    const url = await serve(context, onStopOfRequests);
    return { url, backend, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Before anything is served. Stores that don't answer in time are asked again beside the service: see awaitStores. */
async function refuseSplitStores(backend: Backend): Promise<void> {
  const asked = backend.prepare().catch((error: unknown) => {
    if (error instanceof BadConfig) throw error;
  });
  await Promise.race([asked, pause(LONGEST_ASKING_MS)]);
}

/** Redirects are answered as soon as it listens, while the rest of the program, which takes longer to load, is loaded. */
async function serve(context: RoleContext, onStop: (close: Close) => void): Promise<string> {
  const { config, log, roles, backend } = context;
  const { follower, run: follow } = openLogFollower(context);
  const redirect = roles.has("redirect") ? openRedirect(context, follower) : undefined;
  const trust = trustOf(config.trustProxy);
  const requestIdOf = requestIds(runtimeDeps.newId());
  const server = httpServer(
    redirect && redirectHandler({ ...redirect, requester: requesterOf(trust), requestIdOf, log }),
  );
  onStop(() => server.close());
  const url = await server.listen({ port: config.port, host: config.host });

  const stopWaiting = awaitStores(backend, log);
  context.onStop(async () => stopWaiting());
  const projections = roles.has("projector") ? openProjector(context) : watchProjector(context);
  const webhooks = roles.has("webhooks") ? openWebhooks(context) : undefined;
  await setImmediate();
  const { openApp } = await import("./app.ts");
  const app = await openApp({ context, follower, redirect, projections, webhooks, trust, requestIdOf });
  onStop(() => app.close());
  if (redirect || roles.has("api") || roles.has("portal")) follow();
  server.passTo(app.routing);
  return url;
}
