// The first and last position of each hour of recording in the click streams, where a search by time starts and ends.
import type { Position } from "../../stores/event-store/port.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id` and `hour`: `YYYY-MM-DDTHH`, UTC, by `recordedAt`. `first`, `_position`: of the hour's first and last click. */
export type ClickHourDocument = Document & { hour: string; clicks: number; first: Position };

export const clickHours: Projection<ClickHourDocument> = {
  name: "click-hours",
  collection: { name: "click-hours", indexes: [["hour"]] },
  handles: ["LinkClicked"],
  key: ({ recordedAt }) => hourOf(recordedAt),
  empty: ({ recordedAt, position }) => ({ hour: hourOf(recordedAt), clicks: 0, first: position }),
  evolve(hour) {
    hour.clicks += 1;
    return hour;
  },
};

/** `time`: ISO 8601 UTC. */
export function hourOf(time: string): string {
  return time.slice(0, 13);
}
