// Runs a job at an interval in one process at a time: the one that holds the job's lease.
import { runtimeDeps } from "../commands/runtime-deps.ts";
import { holdLease, JOB_LEASE, leaseHolder } from "../coordination/hold-lease.ts";
import { ProjectionNotBuilt } from "../projections/builds/errors.ts";
import { messageOf } from "../runtime/errors.ts";
import { pause } from "../runtime/pause.ts";
import type { RoleContext } from "./role-context.ts";

export type SingletonJob = {
  /** Names the lease too. */
  name: string;
  /** Pause between two runs. */
  intervalMs: number;
  run: (signal: AbortSignal) => Promise<unknown>;
  /** Logged when a run throws; the next run tries again. */
  failureMessage: string;
};

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
