// Work that only one process should do at a time: waits for its lease, does it while it holds it, hands it on.
import { messageOf } from "../errors.ts";
import { pause } from "../pause.ts";
import type { Lease, Leases } from "./leases.ts";

export type HoldLeaseDeps = {
  leases: Leases;
  /** What is being taken turns at, the same in every process. */
  name: string;
  /** Who asks, different in every process; for people who look at the lease. */
  holder: string;
  /** How long a dead holder keeps others waiting; default 3000. */
  ttlMs?: number;
  /** Default 1000. */
  renewEveryMs?: number;
  /** Between a standby's questions; default 500. */
  askEveryMs?: number;
  log: { info(message: string): void; warn(message: string): void };
};

const TTL_MS = 3_000;
const RENEW_EVERY_MS = 1_000;
const ASK_EVERY_MS = 500;
/** Of its time: a busy process hears its own clock late, and must have stopped before another begins. */
const USABLE = 0.9;

/**
 * Until `signal` aborts. `work` is given a signal that aborts when the lease is lost, at the latest when it can no
 * longer be known to be held; when `work` ends by itself, or fails, the lease is freed and asked for again.
 */
export async function holdLease(
  deps: HoldLeaseDeps,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { leases, name, holder, ttlMs = TTL_MS, askEveryMs = ASK_EVERY_MS } = deps;
  const log = tellChanges(deps);
  while (!signal.aborted) {
    const askedAt = performance.now();
    const lease = await leases.acquire(name, holder, ttlMs).catch((error: unknown) => {
      log("away", `can't be asked for its lease: ${messageOf(error)}`);
    });
    if (lease) {
      log("held", "works here");
      await workUnder(deps, lease, askedAt + ttlMs * USABLE, work, signal, (why) => log("lost", why));
    }
    await pause(askEveryMs, signal);
  }
}

/** `until`: when others may take the lease, by this process's own clock. Answers when the work has ended. */
async function workUnder(
  deps: HoldLeaseDeps,
  lease: Lease,
  until: number,
  work: (signal: AbortSignal) => Promise<void>,
  outer: AbortSignal,
  lost: (why: string) => void,
): Promise<void> {
  const ended = new AbortController();
  const inner = AbortSignal.any([outer, ended.signal]);
  const renewing = keepRenewing(deps, lease, until, inner).then((why) => {
    if (inner.aborted) return;
    lost(why);
    ended.abort();
  });
  try {
    await work(inner);
    if (!inner.aborted) lost("has ended its work");
  } catch (error) {
    if (!inner.aborted) lost(`failed: ${messageOf(error)}`);
  } finally {
    ended.abort();
    await renewing;
    await deps.leases.release(lease).catch(() => undefined);
  }
}

/** Answers why it is no longer held; a lease store that is away for a moment is no reason yet. */
async function keepRenewing(
  { leases, ttlMs = TTL_MS, renewEveryMs = RENEW_EVERY_MS }: HoldLeaseDeps,
  lease: Lease,
  until: number,
  signal: AbortSignal,
): Promise<string> {
  let end = until;
  while (!signal.aborted) {
    await pause(Math.min(renewEveryMs, Math.max(0, end - performance.now())), signal);
    if (signal.aborted) break;
    const askedAt = performance.now();
    const inTime = pause(Math.max(0, end - askedAt), signal).then(() => "late" as const);
    const answer = await Promise.race([leases.renew(lease, ttlMs).catch(() => undefined), inTime]);
    if (answer === false) return "has lost its lease";
    if (answer === true) end = askedAt + ttlMs * USABLE;
    else if (performance.now() >= end) return "could not renew its lease in time";
  }
  return "";
}

/** One line a change, however often it is asked. */
function tellChanges({ name, log }: HoldLeaseDeps): (state: "held" | "lost" | "away", text: string) => void {
  let last: string | undefined;
  return (state, text) => {
    if (state === "away" && last === "away") return;
    last = state;
    log[state === "held" ? "info" : "warn"](`${name} ${text}`);
  };
}
