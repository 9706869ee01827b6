// Bounds how many passwords of accounts are hashed at once, as each takes a core for tens of milliseconds and 19 MB.
import pLimit from "p-limit";
import { Refused } from "../runtime/refused.ts";

export type Bounded = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Two queues, so that a flood of unauthenticated attempts does not delay account owners. `known`: requests with a
 * session, a device cookie or a mailed link; `unknown`: all others. Both throw too_busy.
 */
export type PasswordWork = { known: Bounded; unknown: Bounded };

/** With one for passwords of links (redirect/password/) no more than libuv's four threads. */
const CONCURRENCY = { known: 1, unknown: 2 } as const;
/** About one second of work. */
const MOST_WAITING = 50;

export function passwordWork(): PasswordWork {
  return { known: bounded(CONCURRENCY.known), unknown: bounded(CONCURRENCY.unknown) };
}

function bounded(concurrency: number): Bounded {
  const limit = pLimit(concurrency);
  return async (work) => {
    if (limit.pendingCount >= MOST_WAITING) throw new Refused("too_busy");
    return await limit(work);
  };
}
