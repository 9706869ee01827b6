// Counts of visits in memory: of this process, or of the primary for the processes of `--workers`.
import { LRUCache } from "lru-cache";
import { atMost } from "../../runtime/at-most.ts";
import { KEPT_MS, type VisitCounter } from "./visit-counter.ts";

/** About 10 MB. */
const MOST_LINKS = 100_000;

export function memoryVisitCounter(keptMs = KEPT_MS): VisitCounter {
  const counts = new LRUCache<string, number>({ ...atMost(MOST_LINKS), ttl: keptMs, ttlResolution: 0 });
  return {
    async count(link, most, { add, atLeast }) {
      const known = counts.get(link);
      if (known === undefined && atLeast === undefined) return undefined;
      const count = Math.max(known ?? 0, atLeast ?? 0);
      const isBelow = count < most;
      const after = add > 0 && !isBelow ? count : Math.max(0, count + add);
      if (after !== known) counts.set(link, after);
      return isBelow;
    },
  };
}
