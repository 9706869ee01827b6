// How many passwords are hashed at once: each takes 19 MiB, some 40 ms of a core and one of libuv's four threads.
import pLimit from "p-limit";
import { DomainError } from "../../runtime/errors.ts";

/** Too many people wait already; 503. */
export class TooBusy extends DomainError {
  override readonly code = "too_busy";
  constructor() {
    super("Too many people sign in just now");
  }
}

type Bounded = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Two bounds, so that a flood of strangers' passwords makes no owner wait. `known`: what comes from a session, a known
 * browser or a mailed link; `unknown`: everything else. Both @throws TooBusy
 */
export type PasswordWork = { known: Bounded; unknown: Bounded };

/** Three of libuv's four threads at most: one is left for files and compression. */
const AT_ONCE = { known: 1, unknown: 2 } as const;
/** About a second's work. */
const MOST_WAITING = 50;

export function passwordWork(): PasswordWork {
  return { known: bounded(AT_ONCE.known), unknown: bounded(AT_ONCE.unknown) };
}

function bounded(atOnce: number): Bounded {
  const limit = pLimit(atOnce);
  return async (work) => {
    if (limit.pendingCount >= MOST_WAITING) throw new TooBusy();
    return await limit(work);
  };
}
