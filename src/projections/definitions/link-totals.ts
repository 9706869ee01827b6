// The totals of each link, written with each click: lists sort by them, and limits are checked against them.
import type { LinkClicked } from "../../events/catalogue.ts";
import { CLICK_KINDS, type ClickKind } from "../../events/vocabulary.ts";
import type { CollectionSpec, Document } from "../../stores/read-store/port.ts";
import type { Fields } from "../projection.ts";
import { countDay } from "./last-days.ts";
import { hitsOfKind, type LinkDayDocument } from "./summaries/day.ts";

/**
 * `_id`: link key. Without withdrawn hits. `totalClicks`: the sum of the kinds; `people`: of clicks and QR scans. `date`: the
 * latest UTC day with a hit, YYYY-MM-DD; `lastDays`: people on that day and those before it (last-days.ts). Times are ISO 8601
 * UTC; a link whose clicks are all withdrawn has "" for each.
 */
export type LinkTotalsDocument = Document &
  Record<ClickKind, number> & {
    accountId: string;
    totalClicks: number;
    people: number;
    firstAt: string;
    lastAt: string;
    date: string;
    lastDays: number[];
  };

export const linkTotals: CollectionSpec = { name: "link-totals", indexes: [["accountId", "people"]] };

export function noHits(accountId: string): Fields<LinkTotalsDocument> {
  const counts = { totalClicks: 0, people: 0, click: 0, preview: 0, qr_scan: 0 };
  return { accountId, ...counts, firstAt: "", lastAt: "", date: "", lastDays: [] };
}

/** With the hit, counted in place. */
export function countHit(
  totals: Fields<LinkTotalsDocument>,
  { at, kind }: Pick<LinkClicked["data"], "at" | "kind">,
): void {
  const none = { click: 0, preview: 0, qr_scan: 0 };
  addHits(totals, { ...none, [kind]: 1, day: at.slice(0, 10), firstAt: at, lastAt: at });
}

/** Times in ISO 8601 UTC, of the hits. */
export type DayHits = Record<ClickKind, number> & { day: string; firstAt: string; lastAt: string };

/** Of rows of a day, one at least. */
export function hitsOfRows(
  day: string,
  rows: Iterable<number>,
  table: { kindOf(row: number): ClickKind; atOf(row: number): number },
): DayHits {
  const counts = { click: 0, preview: 0, qr_scan: 0 };
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const row of rows) {
    counts[table.kindOf(row)] += 1;
    const at = table.atOf(row);
    if (at < first) first = at;
    if (at > last) last = at;
  }
  return { day, ...counts, firstAt: new Date(first).toISOString(), lastAt: new Date(last).toISOString() };
}

/** With hits of a day, added in place. */
export function addHits(totals: Fields<LinkTotalsDocument>, hits: DayHits): void {
  const { day: date, firstAt, lastAt } = hits;
  const people = hits.click + hits.qr_scan;
  const all = people + hits.preview;
  if (all === 0) return;
  if (totals.totalClicks === 0) Object.assign(totals, { firstAt, lastAt, date });
  // Clicks of several writers, or from a journal, are appended out of order.
  if (firstAt < totals.firstAt) totals.firstAt = firstAt;
  if (lastAt > totals.lastAt) totals.lastAt = lastAt;
  for (const kind of CLICK_KINDS) totals[kind] += hits[kind];
  totals.totalClicks += all;
  totals.people += people;
  countDay(totals.lastDays, totals.date, date, people);
  if (date > totals.date) totals.date = date;
}

/** Of a link's day. */
export function hitsOfDay({ day, firstAt, lastAt, quarters }: LinkDayDocument): DayHits {
  const [click = 0, preview = 0, qr_scan = 0] = CLICK_KINDS.map((kind) => hitsOfKind({ quarters }, kind));
  return { day, firstAt, lastAt, click, preview, qr_scan };
}
