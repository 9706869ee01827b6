// Minimum position, or revision, of cached entities: values read at an older one are rejected as stale (log-follower.ts).
import { LRUCache } from "lru-cache";
import { entriesBound } from "../../runtime/entries-bound.ts";

/** More entities than change while a read model lags; older entries are no longer needed. */
const MOST_KEPT = 100_000;

/** `V`: a position or a revision. */
export function minVersions<V extends string | number>() {
  const minimum = new LRUCache<string, V>(entriesBound(MOST_KEPT));
  /** Whether a value read at this version includes every event of the entity that was followed so far. */
  const allows = (id: string, version: V): boolean => {
    const least = minimum.get(id);
    return least === undefined || version >= least;
  };
  /** Records that an event at this version changed the entity. */
  const raise = (id: string, version: V): void => {
    if (allows(id, version)) minimum.set(id, version);
  };
  return { raise, allows };
}
