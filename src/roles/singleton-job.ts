// Work of a role that nobody waits for: in turns, again and again, by one process of all.
import { runtimeDeps } from "../commands/runtime-deps.ts";
import { holdLease, leaseHolder } from "../coordination/hold-lease.ts";
import { pause } from "../runtime/pause.ts";
import type { RoleContext } from "./role-context.ts";

/** A dead holder may keep others waiting for half a minute. */
const LEASE = { ttlMs: 30_000, renewEveryMs: 10_000, pollEveryMs: 10_000 };

export type SingletonJob = {
  /** Of its lease. */
  name: string;
  intervalMs: number;
  turn: (signal: AbortSignal) => Promise<unknown>;
  /** What the log says when a turn throws; the next one tries again. */
  failed: string;
};

export function startSingletonJob(
  { log, backend, onStop }: RoleContext,
  { name, intervalMs, turn, failed }: SingletonJob,
): void {
  const turns = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      await turn(signal).catch((err: unknown) => {
        if (!signal.aborted) log.warn({ err }, failed);
      });
      await pause(intervalMs, signal);
    }
  };
  const ended = new AbortController();
  const lease = { leases: backend.leases, name, holder: leaseHolder(runtimeDeps.newId), log, ...LEASE };
  const working = holdLease(lease, turns, ended.signal);
  onStop(() => {
    ended.abort();
    return working;
  });
}
