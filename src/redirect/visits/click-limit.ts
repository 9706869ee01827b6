// Whether a link with `maxClicks` still leads people on: by a count of all processes, or by the documents alone.
import { LRUCache } from "lru-cache";
import { CoordinationUnavailable } from "../../connections/errors.ts";
import { atMost } from "../../runtime/at-most.ts";
import { KEPT_MS, type VisitCounter } from "./visit-counter.ts";

export type ClickLimit = {
  /** Whether the link leads nobody on any more. @throws StoreUnavailable */
  isReached(link: string, most: number): Promise<boolean>;
  /** Counts a person, unless the limit is reached: false then. @throws StoreUnavailable */
  take(link: string, most: number): Promise<boolean>;
  /** For a person who was counted and then answered 503: a link for one click must not be used up by that. */
  giveBack(link: string, most: number): Promise<void>;
};

/** Links that were led on by the documents during an outage of the counter. */
const MOST_LINKS = 100_000;

/** `people`: clicks and scans of the link, by its document. @throws StoreUnavailable through it */
export function clickLimit(deps: {
  counter: VisitCounter;
  people: (link: string) => Promise<number>;
}): ClickLimit {
  const { counter, people } = deps;
  /** Their count misses visits of the outage: it is raised to what the documents hold by then. */
  const missed = new LRUCache<string, true>({ ...atMost(MOST_LINKS), ttl: KEPT_MS });

  async function count(link: string, most: number, add: 1 | 0): Promise<boolean> {
    try {
      const known = missed.has(link) ? undefined : await counter.count(link, most, { add });
      if (known !== undefined) return known;
      const isBelow = await counter.count(link, most, { add, atLeast: await people(link) });
      missed.delete(link);
      return isBelow === true;
    } catch (error) {
      if (!(error instanceof CoordinationUnavailable)) throw error;
      missed.set(link, true);
      return (await people(link)) < most;
    }
  }

  return {
    isReached: async (link, most) => !(await count(link, most, 0)),
    take: (link, most) => count(link, most, 1),
    async giveBack(link, most) {
      await counter.count(link, most, { add: -1 }).catch((error: unknown) => {
        if (!(error instanceof CoordinationUnavailable)) throw error;
      });
    },
  };
}
