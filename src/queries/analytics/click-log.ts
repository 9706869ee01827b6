// Where to begin reading the log of clicks for those that were recorded since a time.
import type { Position } from "../../event-store/port.ts";
import { type ClickHourDocument, clickHours, hourOf } from "../../projections/definitions/click-hours.ts";
import type { ReadStore } from "../../read-store/port.ts";

/** Servers of an event store that take over from each other may differ in time by less than this. */
const CLOCK_MARGIN_MS = 3_600_000;

/**
 * No click that was recorded at or after `since` is at or before this position; undefined for the log's beginning.
 * Earlier than need be while the projection is behind, never too late.
 */
export async function positionBefore(
  { readStore }: { readStore: Pick<ReadStore, "find"> },
  since: Date,
): Promise<Position | undefined> {
  const to = hourOf(new Date(since.getTime() - CLOCK_MARGIN_MS).toISOString());
  const [last] = await readStore.find<ClickHourDocument>(clickHours.collection.name, {
    range: { field: "hour", to },
    sort: { field: "hour", direction: "desc" },
    limit: 1,
  });
  return last?._position;
}
