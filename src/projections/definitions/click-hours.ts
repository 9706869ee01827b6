// The first and last position of each hour of recording in the click streams, where a search by time starts and ends.
import type { Position } from "../../stores/event-store/port.ts";
import type { CollectionSpec, Document } from "../../stores/read-store/port.ts";

/** `_id` and `hour`: `YYYY-MM-DDTHH`, UTC, by `recordedAt`. `first`, `_position`: of the hour's first and last click. */
export type ClickHourDocument = Document & { hour: string; clicks: number; first: Position };

export const clickHours: CollectionSpec = { name: "click-hours", indexes: [["hour"], ["_position"]] };

/** `time`: ISO 8601 UTC. */
export function hourOf(time: string): string {
  return time.slice(0, 13);
}
