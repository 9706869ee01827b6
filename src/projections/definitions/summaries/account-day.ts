// What is kept of an account's closed UTC day: its hits by quarter-hour and by values of each field, with their visitors.
import type { CollectionSpec, Document } from "../../../stores/read-store/port.ts";
import type { QuarterHour } from "./day.ts";
import type { Value } from "./tally.ts";
import type { Patterns } from "./visitors.ts";

/** What an account's day is broken down by: columns of its table, and the host of its links. */
export const SUMMED_FIELDS = [
  ...(["link", "domain", "country", "region", "city", "referrer"] as const),
  ...(["device", "browser", "os", "language"] as const),
  ...(["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "rule"] as const),
] as const;
export type SummedField = (typeof SUMMED_FIELDS)[number];

/**
 * Of each value, or CUT, its clicks, previews and QR scans, and who made the clicks and scans: VALUE_MEMBERS in turn. Visitors of
 * CUT are 0, as those of several values may be the same.
 */
export type ValueCounts = (Value | number)[];
export const VALUE_MEMBERS = 5;

/**
 * `_id`: `<accountId>@YYYY-MM-DD`. `_position`: of the last event that changed it: a click, a withdrawal or the end of one.
 * `quarters`: those with a hit, in order. `visitors`: by the kinds of hit that they made (kindBits). `hours`: by the UTC hours in
 * which they made clicks or scans; empty where there are too many patterns. `values`: of fields with values; of more than 1,000
 * the 500 with most hits, and the others as CUT. `quietPages`: of quiet-links.ts. Written after all else that is summed of the day.
 */
export type AccountDayDocument = Document & {
  accountId: string;
  day: string;
  quarters: QuarterHour[];
  visitors: Patterns;
  hours: Patterns;
  values: { [F in SummedField]?: ValueCounts };
  quietPages: number;
};

export const accountDays: CollectionSpec = { name: "account-days", indexes: [] };
