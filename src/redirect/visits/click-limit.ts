// Whether a link with `maxClicks` still leads people on: by a count of all processes, ahead of the documents, or by these alone.
import { LRUCache } from "lru-cache";
import { entriesBound } from "../../runtime/entries-bound.ts";
import { CoordinationUnavailable, orUndefined } from "../../stores/connections/errors.ts";
import type { Counts } from "../../stores/counts/counts.ts";

/** A count is kept for an hour after it has changed; then it begins anew with the documents, which have caught up. */
export const KEPT_MS = 3_600_000;

/**
 * One more, none to look only, or one back for a visit that was not led on. `atLeast`: what the documents hold, to
 * which the count is raised first; undefined where they were not read.
 */
type Visits = { add: 1 | 0 | -1; atLeast?: number | undefined };

/**
 * Whether the link's count is below `most`; only then one is added to it, atomically. `most` comes with each visit, so that a
 * change of it applies to the next one. Undefined, and nothing has changed, where the count is not known and `atLeast` is not
 * given. @throws CoordinationUnavailable
 */
export type CountVisits = (link: string, most: number, visits: Visits) => Promise<boolean | undefined>;

export function visitCounter(counts: Counts, clock: () => Date): CountVisits {
  return async (link, most, { add, atLeast }) => {
    const isProlonged = add !== 0 || atLeast !== undefined;
    const counting = { add, most, lastsMs: KEPT_MS, isProlonged, atLeast };
    return (await counts.count(`visits ${link}`, clock().getTime(), counting))?.granted;
  };
}

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
  countVisits: CountVisits;
  people: (link: string) => Promise<number>;
}): ClickLimit {
  const { countVisits, people } = deps;
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
      const isBelow = isKnown ? await countVisits(key, maxClicks, { add }) : undefined;
      return isBelow ?? (await countAndCompare(link, add));
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
    const isBelow = await countVisits(key, maxClicks, { add, atLeast });
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
      await countVisits(key, maxClicks, { add: -1 }).catch((error: unknown) => {
        if (!(error instanceof CoordinationUnavailable)) throw error;
      });
    },
  };
}
