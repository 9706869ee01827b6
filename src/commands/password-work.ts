// The one place that bounds how many passwords are hashed at once, as each takes a core for tens of milliseconds and 19 MB.
import { Refused } from "./refusals.ts";

/** Of each hash: OWASP's minimum for argon2id, 19 MiB, two iterations, one lane. */
export const PASSWORD_COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

export type Bounded = <T>(work: () => Promise<T>) => Promise<T>;

const LANES = ["known", "unknown", "visitors", "links"] as const;
type Lane = (typeof LANES)[number];

/**
 * A queue each. Of accounts, `known`: requests with a session, a device cookie or a mailed link; `unknown`: all others. Of
 * links, `visitors`: who open one; `links`: passwords that links get. All throw too_busy.
 */
export type PasswordWork = Record<Lane, Bounded>;

/** Of libuv's four threads, which files and names of hosts need, too. */
const AT_ONCE = 2;
/** Of a queue: about a second of work. */
const MOST_WAITING = 50;

/** Whoever is known comes first; the other queues take turns, so that a flood in one keeps nobody in another waiting. */
export function passwordWork(): PasswordWork {
  const waiting: Record<Lane, (() => void)[]> = { known: [], unknown: [], visitors: [], links: [] };
  let turns: readonly Lane[] = LANES;
  let running = 0;
  const startNext = () => {
    const lane = turns.find((name) => waiting[name].length > 0);
    if (lane === undefined || running === AT_ONCE) return;
    if (lane !== "known") turns = [...turns.filter((other) => other !== lane), lane];
    running += 1;
    waiting[lane].shift()?.();
  };
  const boundedBy =
    (lane: Lane): Bounded =>
    async (work) => {
      if (waiting[lane].length >= MOST_WAITING) throw new Refused("too_busy");
      const started = Promise.withResolvers<void>();
      waiting[lane].push(started.resolve);
      startNext();
      await started.promise;
      try {
        return await work();
      } finally {
        running -= 1;
        startNext();
      }
    };
  return {
    known: boundedBy("known"),
    unknown: boundedBy("unknown"),
    visitors: boundedBy("visitors"),
    links: boundedBy("links"),
  };
}
