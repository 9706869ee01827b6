// Whether a link with `maxClicks` still leads people on: by a count of all processes, or by the documents alone.
import { LRUCache } from "lru-cache";
import { entriesBound } from "../../runtime/entries-bound.ts";
import { CoordinationUnavailable, orUndefined } from "../../stores/connections/errors.ts";
import { KEPT_MS, type VisitCounter } from "./visit-counter.ts";

/** `key`: `<host>/<slug>`. An object of its own for each state of the link, as the look-up has it. */
export type LimitedLink = { readonly key: string; readonly maxClicks: number };

export type ClickLimit = {
  /** Whether the link leads nobody on any more. @throws StoreUnavailable */
  isReached(link: LimitedLink): Promise<boolean>;
  /** Counts a person, unless the limit is reached: false then. @throws StoreUnavailable */
  take(link: LimitedLink): Promise<boolean>;
  /** For a person who was counted and then answered 503: a link for one click must not be used up by that. */
  giveBack(link: LimitedLink): Promise<void>;
};

/** Links that were led on by the documents during an outage of the counter. */
const MOST_LINKS = 100_000;

/** `people`: clicks and scans of the link, by its document. @throws StoreUnavailable through it */
export function clickLimit(deps: {
  counter: VisitCounter;
  people: (link: string) => Promise<number>;
}): ClickLimit {
  const { counter, people } = deps;
  /**
   * Whose count holds what the documents do. Each state of a link is compared anew, as nobody was counted while it
   * had no limit, and the documents may have lagged behind when the count began.
   */
  const compared = new WeakSet<LimitedLink>();
  /** Their count misses visits of the outage: it is not gone by before it is compared. */
  const missed = new LRUCache<string, true>({ ...entriesBound(MOST_LINKS), ttl: KEPT_MS });

  async function count(link: LimitedLink, add: 1 | 0): Promise<boolean> {
    const { key, maxClicks } = link;
    try {
      const isKnown = compared.has(link) && !missed.has(key);
      const known = isKnown ? await counter.count(key, maxClicks, { add }) : undefined;
      return known ?? (await countAndCompare(link, add));
    } catch (error) {
      if (!(error instanceof CoordinationUnavailable)) throw error;
      missed.set(key, true);
      return (await people(key)) < maxClicks;
    }
  }

  async function countAndCompare(link: LimitedLink, add: 1 | 0): Promise<boolean> {
    const { key, maxClicks } = link;
    const reading = people(key);
    const atLeast = missed.has(key) ? await reading : await orUndefined(reading);
    const isBelow = await counter.count(key, maxClicks, { add, atLeast });
    // Without a count the reading is all there is: if it has failed, it throws here.
    if (isBelow === undefined) return (await reading) < maxClicks;
    if (atLeast !== undefined) {
      compared.add(link);
      missed.delete(key);
    }
    return isBelow;
  }

  return {
    isReached: async (link) => !(await count(link, 0)),
    take: (link) => count(link, 1),
    async giveBack({ key, maxClicks }) {
      await counter.count(key, maxClicks, { add: -1 }).catch((error: unknown) => {
        if (!(error instanceof CoordinationUnavailable)) throw error;
      });
    },
  };
}
