// The background thread: projections, seals, webhooks and singleton jobs, each while this process holds its lease.
import { randomUUID } from "node:crypto";
import { messageOf } from "../../runtime/errors.ts";
import { keepRunning, keepTrying } from "../../runtime/keep-trying.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { systemClock } from "../../runtime/pause.ts";
import { serveThread } from "../../runtime/threads/serve-thread.ts";
import { leaseHolder } from "../../stores/coordination/hold-lease.ts";
import { type WatchedLeases, watchedLeases } from "../../stores/coordination/watched-leases.ts";
import { sharedLog } from "../../stores/event-store/shared-log.ts";
import { queriedStore, storesOf } from "../stores/backend.ts";
import { refuseOtherLog } from "../stores/same-log.ts";
import { runJobs } from "./background/jobs.ts";
import { projectionsOf } from "./background/projections.ts";
import { type WebhooksRole, webhooksOf } from "./background/webhooks.ts";
import type { BackgroundData, BackgroundRoles, Reported, RoleProblem } from "./background.ts";

const NOT_YET = { fromMs: 100, toMs: 1_000, random: Math.random };
const RESTART = { fromMs: 250, toMs: 15_000, random: Math.random };

await serveThread<BackgroundData>(async ({ config, roles }, log) => {
  const stores = storesOf(config);
  const foldStore = await stores.foldStore();
  const leases = await stores.leases();
  const watched = new Map<string, WatchedLeases>();
  const holder = leaseHolder(randomUUID);
  const leaseOf = (role: string) => {
    const own = watchedLeases(leases, systemClock.now);
    watched.set(role, own);
    return { leases: own, holder, log };
  };
  const eventStore = await stores.eventStore();
  const deps = {
    config,
    log,
    foldStore,
    readStore: queriedStore(foldStore),
    eventStore: { ...eventStore, ...sharedLog(eventStore) },
    secrets: await stores.secrets(),
  };
  const appending = new AbortController();
  const folding = new AbortController();
  let settleMs = Number.POSITIVE_INFINITY;

  const projections = roles.includes("projector") ? projectionsOf(deps, leaseOf("projector")) : undefined;
  /** Until the log has begun and nothing beside it is of another one: else the service is about to end. */
  const belongs = (signal: AbortSignal) =>
    keepTrying(
      NOT_YET,
      async () => {
        await refuseOtherLog({ ...deps, begun: stores.begun, deliveryQueue: stores.deliveryQueue }, config);
        await stores.begun.required();
      },
      signal,
    );
  const once =
    (run: (signal: AbortSignal) => Promise<void>): typeof run =>
    async (signal) => {
      await belongs(signal);
      if (!signal.aborted) await run(signal);
    };
  let webhooks: WebhooksRole | undefined;
  const webhooksLease = leaseOf("webhooks");
  // A queue that can't be opened stops the webhooks alone.
  const runWebhooks = async (signal: AbortSignal) => {
    webhooks ??= webhooksOf({ ...deps, deliveryQueue: await stores.deliveryQueue() }, webhooksLease);
    await webhooks.run(signal, () => settleMs);
  };
  const failures = new Map<string, string>();
  const keep = keepRole(log, failures);
  const folded = projections && keep("projector", once(projections.run), folding.signal);
  const appended = [
    projections && once((signal) => runJobs(deps, leaseOf("singleton jobs"), signal))(appending.signal),
    roles.includes("webhooks") && keep("webhooks", once(runWebhooks), appending.signal),
  ];

  const roleProblems = (): RoleProblem[] => [
    ...[...watched].flatMap(([role, own]): RoleProblem[] => {
      const reason = own.problem();
      return reason === undefined ? [] : [{ role, reason, level: "unready" }];
    }),
    ...[...failures].map(([role, reason]) => ({ role, reason, level: "degraded" }) as const),
  ];
  const reported = async <S>(status: Promise<S | undefined> | undefined): Promise<Reported<S>> => ({
    status: await status,
    roleProblems: roleProblems(),
  });
  const served: BackgroundRoles = {
    projections: () => reported(projections?.status()),
    webhooks: () => reported(webhooks?.status()),
    async stopAppending(withinMs) {
      settleMs = withinMs;
      appending.abort();
      await Promise.all(appended);
    },
  };
  return {
    served: { roles: () => served },
    async close() {
      await served.stopAppending(settleMs);
      folding.abort();
      await folded;
      await webhooks?.close();
      await stores.close();
    },
  };
});

/** Starts a role that fails again, with backoff, so that it stops no other. `failures`: why, by role. */
function keepRole(log: BasicLogger, failures: Map<string, string>) {
  return (role: string, run: (signal: AbortSignal) => Promise<void>, signal: AbortSignal) => {
    const onFailure = (err: unknown, retryInMs: number) => {
      failures.set(role, messageOf(err));
      log.error({ err, retryInMs }, `${role} failed, starting it again`);
    };
    const attempt = () => {
      failures.delete(role);
      return run(signal);
    };
    return keepRunning({ ...RESTART, onFailure }, attempt, signal);
  };
}
