// The least position at which each thing is believed: what the log has told about it so far (see log-follower.ts).
import { LRUCache } from "lru-cache";
import type { Position } from "../event-store/port.ts";

export type MinPositions = {
  /** An event at this position touched the thing. */
  raise(id: string, position: Position): void;
  /** Whether what was read at this position shows every event of the thing that was followed so far. */
  allows(id: string, position: Position): boolean;
};

/** More things than change while a read model is late; only those that changed last matter. */
const MOST_KEPT = 100_000;

export function minPositions(): MinPositions {
  const least = new LRUCache<string, Position>({ max: MOST_KEPT });
  return {
    raise(id, position) {
      if (position > (least.get(id) ?? "")) least.set(id, position);
    },
    allows: (id, position) => position >= (least.get(id) ?? ""),
  };
}
