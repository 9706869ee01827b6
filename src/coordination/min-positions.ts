// Minimum position of cached entities: values read at an older position are rejected as stale (see log-follower.ts).
import { LRUCache } from "lru-cache";
import type { Position } from "../event-store/port.ts";
import { atMost } from "../runtime/at-most.ts";

export type MinPositions = {
  /** Records that an event at this position changed the entity. */
  raise(id: string, position: Position): void;
  /** Whether a value read at this position includes every event of the entity that was followed so far. */
  allows(id: string, position: Position): boolean;
};

/** More entities than change while a read model lags; older entries are no longer needed. */
const MOST_KEPT = 100_000;

export function minPositions(): MinPositions {
  const minimum = new LRUCache<string, Position>(atMost(MOST_KEPT));
  return {
    raise(id, position) {
      if (position > (minimum.get(id) ?? "")) minimum.set(id, position);
    },
    allows: (id, position) => position >= (minimum.get(id) ?? ""),
  };
}
