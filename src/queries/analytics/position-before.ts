// Finds the log position from which to read the clicks recorded since a given time.
import type { Position } from "../../event-store/port.ts";
import { type ClickHourDocument, clickHours, hourOf } from "../../projections/definitions/click-hours.ts";
import type { ReadStore } from "../../read-store/port.ts";

/** Tolerated difference between the clocks of an event store's nodes, which stamp recordedAt. */
const CLOCK_MARGIN_MS = 3_600_000;

/**
 * A position before every click that was recorded at or after `since`; undefined for the start of the log. While the
 * click-hours projection is behind, the position is earlier than necessary, never later.
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
