// Where each hour ends in the log of clicks: who wants those since a time needs not read from the beginning.
import { PREFIX } from "../../events/streams.ts";
import type { Document } from "../../read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id` and `hour`: `YYYY-MM-DDTHH`, UTC, by when the store took them. `_position`: the last one of the hour. */
export type ClickHourDocument = Document & { hour: string; clicks: number };

export const clickHours: Projection<ClickHourDocument> = {
  name: "click-hours",
  version: 1,
  collection: { name: "click-hours", indexes: [["hour"]] },
  prefixes: [PREFIX.clicks],
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
