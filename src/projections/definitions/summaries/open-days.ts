// The days of accounts that are not closed, or changed since: their tables alone are up to date. Written before the rows that
// open a day, and removed after its summaries, so that a day which is not listed is closed.
import type { CollectionSpec, Document } from "../../../stores/read-store/port.ts";

/**
 * `_id`: `YYYY-MM-DD/<accountId>`, so that days which are over come first. `tail`: `_id` of the chunk with the last rows;
 * `appended`: how many chunks were begun since some were merged, about.
 */
export type OpenDayDocument = Document & { accountId: string; day: string; tail: string; appended: number };

export const openDays: CollectionSpec = { name: "open-days", indexes: [["accountId", "day"]] };

export function openDayId(accountId: string, day: string): string {
  return `${day}/${accountId}`;
}
