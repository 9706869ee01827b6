// Finds the log positions between which the clicks recorded in a time lie.
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

/**
 * The position of the last click recorded in the hours of [from, to), as far as the click-hours projection has come;
 * undefined when there is none. ISO 8601 UTC.
 */
export async function lastPositionIn(
  { readStore }: { readStore: Pick<ReadStore, "find"> },
  from: string,
  to: string,
): Promise<Position | undefined> {
  const [last] = await readStore.find<ClickHourDocument>(clickHours.collection.name, {
    range: { field: "hour", from: hourOf(from), to: `${lastHourOf(to)}~` },
    sort: { field: "_position", direction: "desc" },
    limit: 1,
  });
  return last?._position;
}

/** The last hour that begins before a time, ISO 8601 UTC. */
export function lastHourOf(to: string): string {
  return hourOf(new Date(Date.parse(to) - 1).toISOString());
}
