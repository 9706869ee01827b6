// Counts of this process in memory, which stand in for the shared ones while those are unavailable.
import { LRUCache } from "lru-cache";
import { entriesBound } from "../../runtime/entries-bound.ts";
import { CoordinationUnavailable } from "../connections/errors.ts";
import { type Count, type Counts, counted, hasChanged } from "./counts.ts";

/** Per kind, so that a flood of one evicts none of another; about 20 MB. */
const MOST_OF_A_KIND = 100_000;

export function ownCounts(mostOfAKind = MOST_OF_A_KIND): Counts {
  const byKind = new Map<string, LRUCache<string, Count>>();
  return {
    async count(name, now, counting) {
      const kind = name.slice(0, name.indexOf(" "));
      const counts = byKind.get(kind) ?? new LRUCache<string, Count>(entriesBound(mostOfAKind));
      byKind.set(kind, counts);
      const kept = counts.get(name);
      const next = counted(kept, now, counting);
      if (next && hasChanged(kept, next, now, counting)) counts.set(name, next);
      return next;
    },
    async close() {
      byKind.clear();
    },
  };
}

/**
 * The shared counts, and `own` during an outage: then each process counts for itself, so a caller may get up to the limit
 * from each. What is granted counts there too, so that an outage begins no count anew.
 */
export function withOwnCounts(shared: Counts, own: Counts): Counts {
  return {
    async count(name, now, counting) {
      const shown = await shared.count(name, now, counting).catch((error: unknown) => {
        if (!(error instanceof CoordinationUnavailable)) throw error;
        return "unavailable" as const;
      });
      if (shown === "unavailable") return await own.count(name, now, counting);
      if (shown?.granted) await own.count(name, now, counting);
      return shown;
    },
    get problem() {
      return shared.problem;
    },
    close: () => shared.close(),
  };
}
