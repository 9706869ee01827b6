// Runs a singleton job: waits for its lease, runs while the lease is held, and releases it afterwards.
import { hostname } from "node:os";
import type { Logger } from "../../runtime/logging.ts";
import { type MonotonicClock, systemClock } from "../../runtime/pause.ts";
import type { Leases } from "./leases.ts";

export type HoldLeaseDeps = Partial<MonotonicClock> & {
  leases: Leases;
  /** Name of the lease, the same in every process. */
  name: string;
  /** Identifies this holder: unique per process and thread, readable for operators (leaseHolder). */
  holder: string;
  /** How long a crashed holder blocks a standby; default 3000. */
  ttlMs?: number;
  /** Default 1000. */
  renewEveryMs?: number;
  /** Interval at which a standby tries to get the lease; default 1000. */
  pollEveryMs?: number;
  log: Pick<Logger, "info" | "warn">;
};

const DEFAULTS = {
  ttlMs: 3_000,
  renewEveryMs: 1_000,
  pollEveryMs: 1_000,
  ...systemClock,
};

/** For work that may start late: after a crash of the holder another process takes over within about 40 seconds. */
export const JOB_LEASE = { ttlMs: 30_000, renewEveryMs: 10_000, pollEveryMs: 10_000 };

/** Share of the ttl after which the holder stops: its timers may fire late, and it must stop before another starts. */
const USABLE_SHARE = 0.9;

/** For the answer to a renewal that a busy thread could not ask for before the end of its lease. */
const LATE_ANSWER_MS = 1_000;

type Settled = Required<HoldLeaseDeps>;

/** A holder's name for operators: host and process id; `newId` makes it unique per thread. */
export function leaseHolder(newId: () => string): string {
  return `${hostname()}/${process.pid}/${newId()}`;
}

/**
 * Runs until `signal` aborts. The signal that `work` gets aborts when the lease is lost, or could not be renewed in
 * time. When `work` ends by itself or fails, the lease is released and requested again.
 */
export async function holdLease(
  options: HoldLeaseDeps,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const deps: Settled = { ...DEFAULTS, ...options };
  const { leases, name, holder, ttlMs, pollEveryMs, log, now, sleep } = deps;
  let isUnavailable = false;
  while (!signal.aborted) {
    const requestedAt = now();
    const isHeld = await leases.hold(name, holder, ttlMs).catch((err: unknown) => {
      // One log line an outage.
      if (!isUnavailable) log.warn({ err }, `${name} could not request its lease`);
      isUnavailable = true;
    });
    if (isHeld !== undefined) isUnavailable = false;
    if (isHeld) {
      log.info(`started: ${name}`);
      await workUnder(deps, requestedAt + ttlMs * USABLE_SHARE, work, signal);
    }
    await sleep(untilNext(pollEveryMs, now()), signal);
  }
}

/** `until`: when the lease must not be used any more, by this process's clock. Resolves when the work has ended. */
async function workUnder(
  deps: Settled,
  until: number,
  work: (signal: AbortSignal) => Promise<void>,
  outer: AbortSignal,
): Promise<void> {
  const { leases, name, holder, log } = deps;
  const ended = new AbortController();
  const inner = AbortSignal.any([outer, ended.signal]);
  const renewing = keepRenewing(deps, until, inner).then(({ why, err }) => {
    if (inner.aborted) return;
    if (err === undefined) log.warn(`${name} ${why}`);
    else log.warn({ err }, `${name} ${why}`);
    ended.abort();
  });
  try {
    await work(inner);
    if (!inner.aborted) log.warn(`${name} has ended its work`);
  } catch (err) {
    if (!inner.aborted) log.warn({ err }, `${name} failed`);
  } finally {
    ended.abort();
    await renewing;
    await leases.release(name, holder).catch(() => undefined);
  }
}

/**
 * Resolves with the reason once the lease is no longer held; retries while the lease store is unavailable. A thread that
 * was too busy to renew in time, as by folding a large batch on a slow machine, goes on when nobody took the lease.
 */
async function keepRenewing(
  { leases, name, holder, ttlMs, renewEveryMs, now, sleep }: Settled,
  until: number,
  signal: AbortSignal,
): Promise<{ why: string; err?: unknown }> {
  let end = until;
  let err: unknown;
  while (!signal.aborted) {
    await sleep(Math.min(untilNext(renewEveryMs, now()), Math.max(0, end - now())), signal);
    if (signal.aborted) break;
    const requestedAt = now();
    const answerBy = requestedAt <= end ? end : requestedAt + LATE_ANSWER_MS;
    const late = sleep(answerBy - requestedAt, signal).then(() => undefined);
    const answer = leases.hold(name, holder, ttlMs).catch((failure: unknown) => {
      err = failure;
    });
    const isHeld = await Promise.race([answer, late]);
    if (isHeld === false) return { why: "has lost its lease" };
    if (isHeld === true) end = requestedAt + ttlMs * USABLE_SHARE;
    else if (now() >= end) return { why: "could not renew its lease in time", err };
  }
  return { why: "" };
}

/** The same moments for all leases of a process, so that one command asks for several (leases.mongodb.ts). */
function untilNext(everyMs: number, now: number): number {
  const left = everyMs - (now % everyMs);
  // A timer may fire a moment early.
  return left < everyMs / 10 ? left + everyMs : left;
}
