// Work that only one process should do at a time: waits for its lease, does it while it holds it, hands it on.
import type { Logger } from "pino";
import { pause } from "../runtime/pause.ts";
import type { Leases } from "./leases.ts";

export type HoldLeaseDeps = {
  leases: Leases;
  /** What is being taken turns at, the same in every process. */
  name: string;
  /** Who asks, different in every process and thread; for people who look at the lease. */
  holder: string;
  /** How long a dead holder keeps others waiting; default 3000. */
  ttlMs?: number;
  /** Default 1000. */
  renewEveryMs?: number;
  /** Between a standby's questions; default 500. */
  askEveryMs?: number;
  log: Pick<Logger, "info" | "warn">;
  /** Milliseconds from any start, never set back. */
  now?: () => number;
  /** Ends early, and quietly, when the signal aborts. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
};

const DEFAULTS = {
  ttlMs: 3_000,
  renewEveryMs: 1_000,
  askEveryMs: 500,
  now: () => performance.now(),
  sleep: pause,
};
/** Of its time: a busy process sees its own clock late, and must have stopped before another begins. */
const USABLE = 0.9;

type Settled = Required<HoldLeaseDeps>;

/**
 * Until `signal` aborts. `work` is given a signal that aborts when the lease is lost, at the latest when it can no
 * longer be known to be held; when `work` ends by itself, or fails, the lease is freed and asked for again.
 */
export async function holdLease(
  given: HoldLeaseDeps,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const deps: Settled = { ...DEFAULTS, ...given };
  const { leases, name, holder, ttlMs, askEveryMs, log, now, sleep } = deps;
  let isUnavailable = false;
  while (!signal.aborted) {
    const askedAt = now();
    const isHeld = await leases.hold(name, holder, ttlMs).catch((err: unknown) => {
      // One line an outage, however often it is asked.
      if (!isUnavailable) log.warn({ err }, `${name} can't be asked for its lease`);
      isUnavailable = true;
    });
    if (isHeld !== undefined) isUnavailable = false;
    if (isHeld) {
      log.info(`${name} works here`);
      await workUnder(deps, askedAt + ttlMs * USABLE, work, signal);
    }
    await sleep(askEveryMs, signal);
  }
}

/** `until`: when others may take the lease, by this process's own clock. Answers when the work has ended. */
async function workUnder(
  deps: Settled,
  until: number,
  work: (signal: AbortSignal) => Promise<void>,
  outer: AbortSignal,
): Promise<void> {
  const { leases, name, holder, log } = deps;
  const ended = new AbortController();
  const inner = AbortSignal.any([outer, ended.signal]);
  const renewing = keepRenewing(deps, until, inner).then((why) => {
    if (inner.aborted) return;
    log.warn(`${name} ${why}`);
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

/** Answers why it is no longer held; a lease store that is unavailable for a moment is no reason yet. */
async function keepRenewing(
  { leases, name, holder, ttlMs, renewEveryMs, now, sleep }: Settled,
  until: number,
  signal: AbortSignal,
): Promise<string> {
  let end = until;
  while (!signal.aborted) {
    await sleep(Math.min(renewEveryMs, Math.max(0, end - now())), signal);
    if (signal.aborted) break;
    const askedAt = now();
    const inTime = sleep(Math.max(0, end - askedAt), signal).then(() => undefined);
    const isHeld = await Promise.race([leases.hold(name, holder, ttlMs).catch(() => undefined), inTime]);
    if (isHeld === false) return "has lost its lease";
    if (isHeld === true) end = askedAt + ttlMs * USABLE;
    else if (now() >= end) return "could not renew its lease in time";
  }
  return "";
}
