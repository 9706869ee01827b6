// The last position of each hour in the click streams, where a search by time starts.
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id` and `hour`: `YYYY-MM-DDTHH`, UTC, by `recordedAt`. `_position`: of the hour's last click. */
export type ClickHourDocument = Document & { hour: string; clicks: number };

export const clickHours: Projection<ClickHourDocument> = {
  name: "click-hours",
  collection: { name: "click-hours", indexes: [["hour"]] },
  handles: ["LinkClicked"],
  key: ({ recordedAt }) => hourOf(recordedAt),
  empty: ({ recordedAt }) => ({ hour: hourOf(recordedAt), clicks: 0 }),
  evolve(hour) {
    hour.clicks += 1;
    return hour;
  },
};

/** `time`: ISO 8601 UTC. */
export function hourOf(time: string): string {
  return time.slice(0, 13);
}
