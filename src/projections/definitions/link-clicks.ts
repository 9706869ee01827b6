// What is answered about the hits of a link: its totals, recent clicks and present day; its earlier days are parts of it.
import type { LinkClicked } from "../../events/catalogue.ts";
import { CATEGORY } from "../../events/streams.ts";
import type { ClickKind } from "../../events/vocabulary.ts";
import type { Document } from "../../stores/read-store/port.ts";
import { type Projection, withoutParts } from "../projection.ts";
import { clickRank } from "./click-rank.ts";
import { dayOf } from "./days/days.ts";
import { countDay } from "./days/last-days.ts";
import { emptyDay, type LinkDay, withBreakdowns, withClick, withDay } from "./days/link-day.ts";
import { addRecent, type RecentClickRow } from "./recent-clicks.ts";

/**
 * `_id`: link key. `totalClicks` is the sum of the kinds, `people` that of clicks and QR scans. `rank`: of people, see
 * click-rank.ts. `recent`: newest first. `date`: the latest UTC day with a hit, YYYY-MM-DD; `day`: its numbers; `lastDays`:
 * people on that day and those before it (last-days.ts).
 */
export type LinkClicksDocument = Document &
  Record<ClickKind, number> & {
    accountId: string;
    rank: number;
    totalClicks: number;
    people: number;
    firstAt: string;
    lastAt: string;
    recent: RecentClickRow[];
    date: string;
    day: LinkDay;
    lastDays: number[];
  };

/** Id of the part with the breakdowns of all days before the present one, added up; the others are of one day each. */
export function earlierOf(link: string): string {
  return `${link}@earlier`;
}

export const linkClicks: Projection<LinkClicksDocument> = {
  name: "link-clicks",
  version: 1,
  collection: {
    name: "link-clicks",
    indexes: [["accountId", "rank"]],
    columns: ["accountId", "rank", "people"],
  },
  categories: [CATEGORY.clicks, CATEGORY.withdrawals],
  handles: ["LinkClicked"],
  key: (event) => (event.data as LinkClicked["data"]).link,
  recounts: true,
  empty(event) {
    const { accountId, at } = event.data as LinkClicked["data"];
    return {
      accountId,
      rank: 0,
      totalClicks: 0,
      people: 0,
      click: 0,
      preview: 0,
      qr_scan: 0,
      firstAt: at,
      lastAt: at,
      recent: [],
      date: at.slice(0, 10),
      day: emptyDay(),
      lastDays: [],
    };
  },
  parts: {
    isWithin: ({ date }, event) => event.data.at.slice(0, 10) === date,
    idsOf(event) {
      const { link, at } = event.data as LinkClicked["data"];
      return [dayOf(link, at), earlierOf(link)];
    },
    empty: emptyDay,
  },
  evolve(clicks, event, parts = withoutParts) {
    if (event.type !== "LinkClicked") return clicks;
    const { data: click } = event;
    clicks.totalClicks += 1;
    clicks[click.kind] += 1;
    const isPerson = click.kind !== "preview";
    if (isPerson) {
      clicks.people += 1;
      clicks.rank = clickRank(clicks.people);
    }
    // Clicks of several writers, or from a journal, are appended out of order.
    if (click.at < clicks.firstAt) clicks.firstAt = click.at;
    if (click.at > clicks.lastAt) clicks.lastAt = click.at;
    addRecent(clicks.recent, click);
    const date = click.at.slice(0, 10);
    countDay(clicks.lastDays, clicks.date, date, isPerson);
    if (date === clicks.date) {
      withClick(clicks.day, event);
      return clicks;
    }
    const earlier = earlierOf(click.link);
    if (date > clicks.date) {
      const { day } = clicks;
      parts.change<LinkDay>(dayOf(click.link, clicks.date), () => day);
      parts.change<LinkDay>(earlier, (sum = emptyDay()) => withDay(sum, day));
      clicks.date = date;
      clicks.day = withClick(emptyDay(), event);
      return clicks;
    }
    parts.change<LinkDay>(dayOf(click.link, date), (day = emptyDay()) => withClick(day, event));
    parts.change<LinkDay>(earlier, (sum = emptyDay()) => withBreakdowns(sum, event));
    return clicks;
  },
};
