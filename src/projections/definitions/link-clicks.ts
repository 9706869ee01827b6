// What is answered about all hits of a link: its totals, the breakdowns of its whole life, and its last clicks.
import type { LinkClicked } from "../../events/catalogue.ts";
import { CLICK_KINDS, type ClickKind } from "../../events/vocabulary.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Fields, Projection } from "../projection.ts";
import { addBreakdown, type Breakdown, countBreakdown } from "./breakdown.ts";
import { dateOf, hitsOfKind } from "./days/days.ts";
import { countDay } from "./days/last-days.ts";
import type { LinkDayDocument } from "./days/link-day.ts";
import { addRecent, type RecentClickRow } from "./recent-clicks.ts";

/**
 * `_id`: link key. `totalClicks` is the sum of the kinds, `people` that of clicks and QR scans. `kinds`: those with hits.
 * `recent`: newest first. `date`: the latest UTC day with a hit, YYYY-MM-DD; `lastDays`: people on that day and those before
 * it (last-days.ts). A link whose clicks are all withdrawn has "" for each time.
 */
export type LinkClicksDocument = Document &
  Record<ClickKind, number> & {
    accountId: string;
    totalClicks: number;
    people: number;
    firstAt: string;
    lastAt: string;
    kinds: { [K in ClickKind]?: Breakdown };
    recent: RecentClickRow[];
    date: string;
    lastDays: number[];
  };

export const linkClicks: Projection<LinkClicksDocument> = {
  name: "link-clicks",
  collection: { name: "link-clicks", indexes: [["accountId", "people"]] },
  handles: ["LinkClicked"],
  key: (event) => (event.data as LinkClicked["data"]).link,
  empty: (event) => noClicks((event.data as LinkClicked["data"]).accountId),
  evolve(clicks, event) {
    if (event.type !== "LinkClicked") return clicks;
    const { data: click } = event;
    const date = click.at.slice(0, 10);
    const isPerson = click.kind !== "preview";
    if (clicks.totalClicks === 0) Object.assign(clicks, { firstAt: click.at, lastAt: click.at, date });
    // Clicks of several writers, or from a journal, are appended out of order.
    if (click.at < clicks.firstAt) clicks.firstAt = click.at;
    if (click.at > clicks.lastAt) clicks.lastAt = click.at;
    clicks.totalClicks += 1;
    clicks[click.kind] += 1;
    if (isPerson) clicks.people += 1;
    clicks.kinds[click.kind] = countBreakdown(clicks.kinds[click.kind], click);
    addRecent(clicks.recent, click);
    countDay(clicks.lastDays, clicks.date, date, isPerson);
    if (date > clicks.date) clicks.date = date;
    return clicks;
  },
};

export function noClicks(accountId: string): Fields<LinkClicksDocument> {
  const counts = { totalClicks: 0, people: 0, click: 0, preview: 0, qr_scan: 0 };
  return { accountId, ...counts, firstAt: "", lastAt: "", kinds: {}, recent: [], date: "", lastDays: [] };
}

/** Adds a day of the link, which comes after those added before, in place; not its recent clicks. */
export function addLinkDay(clicks: Fields<LinkClicksDocument>, day: LinkDayDocument): void {
  if (day.quarters.length === 0) return;
  if (clicks.totalClicks === 0 || day.firstAt < clicks.firstAt) clicks.firstAt = day.firstAt;
  if (day.lastAt > clicks.lastAt) clicks.lastAt = day.lastAt;
  const date = dateOf(day);
  countDay(clicks.lastDays, clicks.date || date, date, false);
  for (const kind of CLICK_KINDS) {
    const hits = hitsOfKind(day, kind);
    const isPerson = kind !== "preview";
    clicks.totalClicks += hits;
    clicks[kind] += hits;
    if (isPerson) clicks.people += hits;
    if (isPerson) countDay(clicks.lastDays, date, date, true, hits);
    const breakdown = day.kinds[kind];
    if (breakdown) clicks.kinds[kind] = addBreakdown(clicks.kinds[kind], breakdown);
  }
  clicks.date = date;
}
