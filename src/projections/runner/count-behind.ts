// How many events projections have still to fold, for those who watch a catch-up.
import type { EventStore } from "../../event-store/port.ts";
import type { Projection } from "../projection.ts";
import type { ProjectionStatus } from "./status.ts";

/** So that a look during a long catch-up costs no more. */
const MOST_COUNTED = 1_000;

/**
 * By name, counted up to 1,000. Projections that read the same streams and are at the same position, as most of a
 * group are, are counted once. @throws StoreUnavailable
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
    const prefixes = projections.find((projection) => projection.name === name)?.prefixes ?? [];
    const after = position ?? undefined;
    const stretch = `${after} ${prefixes}`;
    const events =
      counted.get(stretch) ?? (await eventStore.readAll({ after, prefixes, limit: MOST_COUNTED })).length;
    counted.set(stretch, events);
    behind.set(name, events);
  }
  return behind;
}
