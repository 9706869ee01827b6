// One running service: opens its stores, roles and HTTP server in this order, and closes them in reverse.
import { setImmediate } from "node:timers/promises";
import { requestIds } from "../api/request-id.ts";
import { passwordWork } from "../commands/password-work.ts";
import { runtimeDeps } from "../commands/runtime-deps.ts";
import { type Config, secretKeyOf } from "../config/config.ts";
import { rateLimits } from "../limits/rate-limit.ts";
import { redirectHandler } from "../redirect/http/handler.ts";
import { httpServer } from "../redirect/http/http-server.ts";
import { readForwarded, requesterOf, trustOf } from "../redirect/http/requester.ts";
import { visitCounter } from "../redirect/visits/click-limit.ts";
import type { Logger } from "../runtime/logging.ts";
import { systemClock, untilAborted } from "../runtime/pause.ts";
import { type Close, stopInStages } from "../runtime/stop/stop-in-stages.ts";
import { logHealth, watchedEventStore, watchedSecrets } from "../stores/coordination/log-health.ts";
import { ownCounts, withOwnCounts } from "../stores/counts/own-counts.ts";
import { awaitStores, prepareNow } from "./roles/await-stores.ts";
import { openLogFollower } from "./roles/follow-log.ts";
import { openOperator } from "./roles/operator.ts";
import { openRedirect } from "./roles/redirect.ts";
import { ALL_ROLES, type Roles } from "./roles/role.ts";
import type { RoleContext, WorkerGroup } from "./roles/role-context.ts";
import { openBackground } from "./roles/work-in-background.ts";
import { type Backend, openBackend } from "./stores/backend.ts";
import { readerThread } from "./threads/reader.ts";
import { writerThread } from "./threads/writer.ts";

export type Service = {
  /** Where it listens, such as http://127.0.0.1:3000; empty if it doesn't. */
  url: string;
  backend: Backend;
  /** Waits for open requests, commits all clicks, ends threads and closes stores, all within STOP_SECONDS. */
  stop(): Promise<void>;
};

/**
 * Shares of the stop's budget at which open requests, then the roles, those of other workers, and then what seals their last
 * appends must be closed; stores get the remainder.
 */
const REQUESTS_UNTIL = 3 / 8;
const ROLES_UNTIL = 3 / 4;
const OTHERS_UNTIL = 13 / 16;
const SEALING_UNTIL = 15 / 16;

export type ServiceOptions = {
  /** All by default. */
  roles?: Roles;
  /** Wall clock of rate limits, links and analytics; tests set it. */
  clock?: () => Date;
  /** Of a worker of several. */
  group?: WorkerGroup;
  /** False for a worker without HTTP; default true. */
  listens?: boolean;
  /** Called before it listens; until then there is nothing that a stop would have to end. */
  onListen?: () => void;
  /** Aborted to be stopped while it is opened: it resolves then without the rest. `stop` aborts it, too. */
  stopping?: AbortController;
};

/**
 * Listens also while servers of its stores are unavailable; /health/ready reports them until they answer.
 * @throws what opening the stores and listening throw, after closing what was opened
 */
export async function openService(
  configured: Config,
  log: Logger,
  options: ServiceOptions = {},
): Promise<Service> {
  const { roles = ALL_ROLES, clock = runtimeDeps.clock, group } = options;
  const { stopping = new AbortController() } = options;
  const config: Config = { ...configured, secretKey: secretKeyOf(configured) };
  const requests: Close[] = [];
  const ofRoles: Close[] = [];
  const sealing: Close[] = [];
  const stores: Close[] = [];
  let hasBegun = false;
  const stop = async () => {
    stopping.abort();
    hasBegun = true;
    await stopInStages({ ...systemClock, log }, config.stopSeconds * 1_000, [
      { closers: requests.splice(0), until: REQUESTS_UNTIL },
      { closers: ofRoles.splice(0), until: ROLES_UNTIL },
      { closers: group && sealing.length > 0 ? [group.othersEnded] : [], until: OTHERS_UNTIL },
      { closers: sealing.splice(0), until: SEALING_UNTIL },
      { closers: stores.splice(0), until: 1 },
    ]);
  };
  try {
    const warn = (message: string) => log.warn(message);
    const threads = { writer: writerThread(config, log), reader: readerThread(config, log) };
    stores.push(
      (withinMs) => threads.writer.close(withinMs),
      (withinMs) => threads.reader.close(withinMs),
    );
    const opened = await openBackend(config, { threads, log: warn });
    stores.push(() => opened.close());
    if (!opened.preparesAtOpening) await prepareNow(opened);
    const health = logHealth({ log, now: systemClock.now });
    const backend = {
      ...opened,
      eventStore: watchedEventStore(opened.eventStore, health),
      secrets: watchedSecrets(opened.secrets, health),
    };
    // What a start that is given up still opens is closed at once.
    const onStop = (close: Close) =>
      hasBegun ? void close(0).catch(() => undefined) : void ofRoles.push(close);
    const onStopOfRequests = (close: Close) => void requests.push(close);
    const { signal } = stopping;
    const shared = await opened.counts();
    const counts = withOwnCounts(shared, ownCounts());
    const context: RoleContext = {
      config,
      log,
      clock,
      backend,
      health,
      threads,
      roles,
      redis: await opened.redis(),
      counts,
      rateLimits: rateLimits(counts),
      countVisits: visitCounter(shared, clock),
      passwordWork: passwordWork(),
      group,
      stopping: signal,
      onStop,
      onLastAppend: (close) => void sealing.push(close),
    };
    const url = await serve(context, options, onStopOfRequests);
    return { url, backend, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Listens and answers redirects before app.ts is imported, which takes longer to load. */
async function serve(
  context: RoleContext,
  { listens = true, onListen = () => undefined }: Pick<ServiceOptions, "listens" | "onListen">,
  onStop: (close: Close) => void,
): Promise<string> {
  const { config, log, roles, backend } = context;
  const { follower, run: follow } = openLogFollower(context);
  context.group?.onFollow(() => follower.catchUp());
  const redirect = roles.has("redirect") ? openRedirect(context, follower) : undefined;
  const trust = trustOf(config.trustProxy);
  const requestIdOf = requestIds(runtimeDeps.newId());
  const requester = requesterOf(trust, config.clientCountryHeader);
  const server = httpServer(
    redirect && redirectHandler({ ...redirect, requester, requestIdOf, log }),
    readForwarded(config.clientIpHeader),
  );
  onStop(() => server.close());
  if (listens) onListen();
  const url = listens ? await server.listen({ port: config.port, host: config.host }) : "";

  await openOperator({ ...context, onStop });
  const stopWaiting = awaitStores(backend, log);
  context.onStop(async () => stopWaiting());
  const background = openBackground(context);
  await setImmediate();
  if (context.stopping.aborted) return url;
  const opening = import("./app.ts").then(({ openApp }) => {
    context.stopping.throwIfAborted();
    return openApp({ context, follower, redirect, background, trust, requestIdOf });
  });
  // On a busy machine that takes longer than a stop may.
  const app = await Promise.race([opening, untilAborted(context.stopping)]);
  if (!app) return url;
  onStop(() => app.close());
  if (redirect || roles.has("api") || roles.has("portal")) follow();
  server.passTo(app.routing);
  return url;
}
