// The totals of each link, written with each click: lists sort by them, and limits are checked against them.
import type { LinkClicked } from "../../events/catalogue.ts";
import { CLICK_KINDS, type ClickKind } from "../../events/vocabulary.ts";
import type { CollectionSpec, Document } from "../../stores/read-store/port.ts";
import type { Fields } from "../projection.ts";
import { countDay } from "./days/last-days.ts";
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
export function countHit<T extends Fields<LinkTotalsDocument>>(
  totals: T,
  { at, kind }: Pick<LinkClicked["data"], "at" | "kind">,
): T {
  const date = at.slice(0, 10);
  const isPerson = kind !== "preview";
  if (totals.totalClicks === 0) Object.assign(totals, { firstAt: at, lastAt: at, date });
  // Clicks of several writers, or from a journal, are appended out of order.
  if (at < totals.firstAt) totals.firstAt = at;
  if (at > totals.lastAt) totals.lastAt = at;
  totals.totalClicks += 1;
  totals[kind] += 1;
  if (isPerson) totals.people += 1;
  countDay(totals.lastDays, totals.date, date, isPerson);
  if (date > totals.date) totals.date = date;
  return totals;
}

/** With the hits of a day, added in place. */
export function addHits(totals: Fields<LinkTotalsDocument>, day: LinkDayDocument): void {
  const { day: date, firstAt, lastAt } = day;
  const hits = CLICK_KINDS.map((kind) => [kind, hitsOfKind(day, kind)] as const);
  const all = hits.reduce((sum, [, count]) => sum + count, 0);
  if (all === 0) return;
  if (totals.totalClicks === 0) Object.assign(totals, { firstAt, lastAt, date });
  if (firstAt < totals.firstAt) totals.firstAt = firstAt;
  if (lastAt > totals.lastAt) totals.lastAt = lastAt;
  for (const [kind, count] of hits) totals[kind] += count;
  const people = all - hitsOfKind(day, "preview");
  totals.totalClicks += all;
  totals.people += people;
  countDay(totals.lastDays, totals.date, date, people > 0, people);
  if (date > totals.date) totals.date = date;
}
