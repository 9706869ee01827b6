// The singleton jobs of the projector role: each runs at an interval in one process at a time, which holds the job's lease.
import { txtResolver } from "../../commands/domains/hostname.ts";
import { runtimeDeps } from "../../commands/runtime-deps.ts";
import { ProjectionNotBuilt } from "../../projections/builds/errors.ts";
import { whenProjected } from "../../queries/read-your-writes.ts";
import { messageOf } from "../../runtime/errors.ts";
import { pause } from "../../runtime/pause.ts";
import { holdLease, JOB_LEASE, leaseHolder } from "../../stores/coordination/hold-lease.ts";
import { accountClosings } from "../jobs/account-closing.ts";
import { checkDueDomains } from "../jobs/domain-checks.ts";
import { recheckWaiting } from "../jobs/url-rechecks.ts";
import type { RoleContext } from "./role-context.ts";
import type { Writing } from "./writing.ts";

export type SingletonJob = {
  /** Names the lease too. */
  name: string;
  /** Pause between two runs. */
  intervalMs: number;
  run: (signal: AbortSignal) => Promise<unknown>;
  /** Logged when a run throws; the next run tries again. */
  failureMessage: string;
};

/** How long a run that closes accounts waits for the links projection; afterwards the next run continues. */
const MAX_WAIT_MS = 5_000;

export function openBackgroundJobs(context: RoleContext, writing: Writing): void {
  const { config, log, clock, backend } = context;
  const { eventStore, readStore, secrets } = backend;
  const { newId, random, sleep } = runtimeDeps;
  const deps = { eventStore, readStore, secrets, clock, newId, random, sleep, log };
  const domains = { ...deps, resolveTxt: txtResolver(config.dnsServers) };
  startSingletonJob(context, {
    name: "domain-checks",
    intervalMs: 10 * 60_000,
    run: (signal) => checkDueDomains(domains, signal),
    failureMessage: "checking domains failed",
  });
  startSingletonJob(context, {
    name: "account-closing",
    intervalMs: 5_000,
    run: accountClosings({
      ...deps,
      isShown: (position) => whenProjected({ readStore, sleep }, position, () => MAX_WAIT_MS),
    }),
    failureMessage: "looking for closed accounts failed",
  });
  startSingletonJob(context, secretsSweep(context));
  // Without Safe Browsing no URL waits, as the local list of unsafe hosts is always available.
  if (!config.safeBrowsingKey) return;
  startSingletonJob(context, {
    name: "url-rechecks",
    intervalMs: 60_000,
    run: (signal) => recheckWaiting({ ...writing.links, secrets, log }, signal),
    failureMessage: "rechecking the URLs of links failed",
  });
}

/**
 * Deletes expired secrets (sessions, tokens, idempotent answers, uses of keys), so that they get into no backup; reads ignore
 * them already. The first run encrypts secrets that are under SECRET_KEY_PREVIOUS.
 */
function secretsSweep({ log, clock, backend }: RoleContext): SingletonJob {
  let isReencrypted = false;
  return {
    name: "secrets-sweep",
    intervalMs: 60_000,
    async run(signal) {
      if (!isReencrypted) {
        const renewed = await backend.secrets.reencrypt(clock(), signal);
        if (renewed > 0) log.info({ secrets: renewed }, "encrypted secrets under the present SECRET_KEY");
        isReencrypted = !signal.aborted;
      }
      await backend.secrets.sweep(clock());
    },
    failureMessage: "destroying expired secrets failed",
  };
}

/** Starts in the background; stops, and gives up the lease, with the role. */
export function startSingletonJob(
  { log, backend, onStop }: RoleContext,
  { name, intervalMs, run, failureMessage }: SingletonJob,
): void {
  /** One log line an outage. */
  let failure: string | undefined;
  const runOnce = async (signal: AbortSignal) => {
    try {
      await run(signal);
      failure = undefined;
    } catch (err) {
      // What it reads is made for the first time, as in a new service.
      if (err instanceof ProjectionNotBuilt || signal.aborted) return;
      if (failure !== messageOf(err)) log.warn({ err }, failureMessage);
      failure = messageOf(err);
    }
  };
  const runRepeatedly = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      await runOnce(signal);
      await pause(intervalMs, signal);
    }
  };
  const ended = new AbortController();
  const lease = { leases: backend.leases, name, holder: leaseHolder(runtimeDeps.newId), log, ...JOB_LEASE };
  const running = holdLease(lease, runRepeatedly, ended.signal);
  onStop(() => {
    ended.abort();
    return running;
  });
}
