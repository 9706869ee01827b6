// The one place that bounds how many passwords are hashed at once, as each takes a core for tens of milliseconds and 19 MB.
import pLimit from "p-limit";
import { Refused } from "../runtime/refused.ts";

export type Bounded = <T>(work: () => Promise<T>) => Promise<T>;

const LANES = ["known", "unknown", "visitors", "links"] as const;

/**
 * A queue each, so that nobody waits for the others' numbers. Of accounts, `known`: requests with a session, a device cookie or
 * a mailed link; `unknown`: all others. Of links, `visitors`: who open one; `links`: passwords that links get. All throw
 * too_busy.
 */
export type PasswordWork = Record<(typeof LANES)[number], Bounded>;

/** About one second of work. */
const MOST_WAITING = 50;

/** One at a time in each queue: as many as libuv has threads. */
export function passwordWork(): PasswordWork {
  return Object.fromEntries(LANES.map((lane) => [lane, bounded()])) as PasswordWork;
}

function bounded(): Bounded {
  const limit = pLimit(1);
  return async (work) => {
    if (limit.pendingCount >= MOST_WAITING) throw new Refused("too_busy");
    return await limit(work);
  };
}
