// Counts how many people were led on by links with `maxClicks`, for all processes together and ahead of the documents.
import type { Counts } from "../../stores/counts/counts.ts";

/** A count is kept for an hour after it has changed; then it begins anew with the documents, which have caught up. */
export const KEPT_MS = 3_600_000;

/**
 * One more, none to look only, or one back for a visit that was not led on. `atLeast`: what the documents hold, to
 * which the count is raised first; undefined where they were not read.
 */
export type Visits = { add: 1 | 0 | -1; atLeast?: number | undefined };

export interface VisitCounter {
  /**
   * Whether the link's count is below `most`; only then one is added to it, atomically. `most` comes with each
   * visit, so that a change of it applies to the next one. Undefined, and nothing has changed, where the count is
   * not known and `atLeast` is not given. @throws CoordinationUnavailable
   */
  count(link: string, most: number, visits: Visits): Promise<boolean | undefined>;
}

export function visitCounter(counts: Counts, clock: () => Date): VisitCounter {
  return {
    async count(link, most, { add, atLeast }) {
      const isProlonged = add !== 0 || atLeast !== undefined;
      const counting = { add, most, lastsMs: KEPT_MS, isProlonged, atLeast };
      return (await counts.count(`visits ${link}`, clock().getTime(), counting))?.granted;
    },
  };
}
