// What is kept of a link's closed UTC day, in quarter-hours and breakdowns by kind of hit.
import { CLICK_KINDS, type ClickKind } from "../../../events/vocabulary.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import type { CollectionSpec, Document } from "../../../stores/read-store/port.ts";
import type { Breakdown } from "./breakdown.ts";
import type { Tally } from "./tally.ts";
import type { Patterns } from "./visitors.ts";

/** The number of the quarter-hour in the UTC day, 0 to 95, and its hits by kind, in the order of CLICK_KINDS. */
export type QuarterHour = [quarter: number, click: number, preview: number, qrScan: number];

/** A hit that counts: the row of the table of this account and day with this position. */
export type HitPlace = { at: string; kind: ClickKind; position: Position };

/** `regions`: with their countries. */
export type KindOfDay = Breakdown & { regions: Tally; languages: Tally };

/**
 * `accountId`, `day` (YYYY-MM-DD): of its table. `firstAt`, `lastAt`: of the hits that count, ISO 8601 UTC, "" without any. `quarters`: those with a hit, in
 * order. `visitors`: by the kinds of hit that they made (kindBits). `kinds`: those with hits. `_position`: of the last event that changed it: a click, a withdrawal or the end of one.
 */
export type DaySummary = {
  accountId: string;
  day: string;
  firstAt: string;
  lastAt: string;
  quarters: QuarterHour[];
  visitors: Patterns;
  kinds: { [K in ClickKind]?: KindOfDay };
};

/**
 * `_id`: `<link>@YYYY-MM-DD`. Of each link with many rows in the table, or a withdrawn one; of others: quiet-links.ts. `recent`:
 * its last ten hits, latest first.
 */
export type LinkDayDocument = Document & DaySummary & { recent: HitPlace[] };

export const linkDays: CollectionSpec = { name: "link-days", indexes: [] };

/** Of a link's key or an account's id; `at`: any instant of the day, ISO 8601 UTC, or the day. */
export function dayOf(subject: string, at: string): string {
  return `${subject}@${at.slice(0, 10)}`;
}

/** The range of `_id` of the subject's days. */
export function daysOf(subject: string) {
  return { field: "_id", from: dayOf(subject, "0000-01-01"), to: `${dayOf(subject, "9999-12-31")}~` };
}

/** Hits of one kind. */
export function hitsOfKind({ quarters }: Pick<DaySummary, "quarters">, kind: ClickKind): number {
  const column = (CLICK_KINDS.indexOf(kind) + 1) as 1 | 2 | 3;
  return quarters.reduce((sum, quarter) => sum + quarter[column], 0);
}
