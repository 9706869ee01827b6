// The background thread: projections, seals, webhooks and singleton jobs, each while this process holds its lease.
import { randomUUID } from "node:crypto";
import { keepRunning } from "../../runtime/keep-trying.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { systemClock } from "../../runtime/pause.ts";
import { serveThread } from "../../runtime/threads/serve-thread.ts";
import { leaseHolder } from "../../stores/coordination/hold-lease.ts";
import { type WatchedLeases, watchedLeases } from "../../stores/coordination/watched-leases.ts";
import { queriedStore, storesOf } from "../stores/backend.ts";
import { runJobs } from "./background/jobs.ts";
import { projectionsOf } from "./background/projections.ts";
import { webhooksOf } from "./background/webhooks.ts";
import type { BackgroundData, BackgroundRoles, Reported } from "./background.ts";

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
  const deps = {
    config,
    log,
    foldStore,
    readStore: queriedStore(foldStore),
    eventStore: await stores.eventStore(),
    secrets: await stores.secrets(),
  };
  const appending = new AbortController();
  const folding = new AbortController();
  let settleMs = Number.POSITIVE_INFINITY;

  const projections = roles.includes("projector") ? projectionsOf(deps, leaseOf("projector")) : undefined;
  const webhooks = roles.includes("webhooks")
    ? await webhooksOf({ ...deps, deliveryQueue: await stores.deliveryQueue() }, leaseOf("webhooks"))
    : undefined;
  const keep = keepRole(log);
  const folded = projections && keep("projector", projections.run, folding.signal);
  const appended = [
    projections && runJobs(deps, leaseOf("singleton jobs"), appending.signal),
    webhooks && keep("webhooks", (signal) => webhooks.run(signal, () => settleMs), appending.signal),
  ];

  const leaseProblems = () =>
    [...watched].flatMap(([role, own]): Reported<never>["leaseProblems"] => {
      const problem = own.problem();
      return problem === undefined ? [] : [[role, problem]];
    });
  const reported = async <S>(status: Promise<S | undefined> | undefined): Promise<Reported<S>> => ({
    status: await status,
    leaseProblems: leaseProblems(),
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

/** Starts a role that fails again, with backoff, so that it stops no other. */
function keepRole(log: BasicLogger) {
  return (role: string, run: (signal: AbortSignal) => Promise<void>, signal: AbortSignal) => {
    const onFailure = (err: unknown, retryInMs: number) =>
      log.error({ err, retryInMs }, `${role} failed, starting it again`);
    return keepRunning({ ...RESTART, onFailure }, () => run(signal), signal);
  };
}
