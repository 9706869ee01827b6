// Counts the events that each projection has still to fold, for the metrics.
import type { EventStore } from "../../stores/event-store/port.ts";
import type { Projection } from "../projection.ts";
import type { ProjectionStatus } from "./status.ts";

/** Bounds the cost of a count during a long catch-up. */
const MAX_COUNTED = 1_000;

/**
 * By projection name, at most 1,000. One read serves all projections with the same categories and position, as most of a
 * group have. @throws StoreUnavailable
 */
export async function countBehind(
  eventStore: Pick<EventStore, "readAll">,
  projections: readonly Projection[],
  statuses: readonly ProjectionStatus[],
): Promise<ReadonlyMap<string, number>> {
  const counted = new Map<string, number>();
  const behind = new Map<string, number>();
  for (const { name, position, behind: isBehind } of statuses) {
    if (!isBehind) {
      behind.set(name, 0);
      continue;
    }
    const categories = projections.find((projection) => projection.name === name)?.categories ?? [];
    const after = position ?? undefined;
    const range = `${after} ${categories}`;
    const events =
      counted.get(range) ?? (await eventStore.readAll({ after, categories, limit: MAX_COUNTED })).length;
    counted.set(range, events);
    behind.set(name, events);
  }
  return behind;
}
