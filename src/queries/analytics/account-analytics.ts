// The numbers of an account in a range of time, by the days of the account; and its links with most hits, where the range
// cuts a day by that day of the links themselves.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { type AccountDayDocument, accountDays } from "../../projections/definitions/days/account-day.ts";
import {
  type DayDocument,
  dateOf,
  dayOf,
  type QuarterHour,
} from "../../projections/definitions/days/days.ts";
import { linkDays } from "../../projections/definitions/days/link-day.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import { OTHER } from "../../projections/definitions/tally.ts";
import { utcDate } from "../../runtime/moment.ts";
import { documentPages } from "../../stores/read-store/document-pages.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { type Interval, pointsOf, startOfDay } from "./intervals.ts";
import type { RangeRequest } from "./range.ts";
import { addHits, type HitSeries, hitCounts, hitSum, midnightOf, quartersIn } from "./sums.ts";

type Deps = { readStore: ReadStore };

/** A quarter-hour that the range cuts counts as a whole. */
export type AccountRange = Pick<RangeRequest, "from" | "to" | "zone" | "interval" | "kinds">;

/** `clicks`: hits in the range. */
export type ClickedLink = LinkDocument & { clicks: number };

/** `leavesOut`: whether there were more links than are counted one by one, so that numbers may be too low. */
type TopLinks = { links: ClickedLink[]; leavesOut: boolean };

export type AccountAnalytics = HitSeries & { interval: Interval; top: TopLinks };

/** The quarter-hours of a day that lie in the range. */
type InRange = (day: Pick<DayDocument, "_id" | "quarters">) => QuarterHour[];

/** `whole`: hits on days that are in the range as a whole; `most`: with all hits of the days that it cuts. */
type Candidate = { link: string; whole: number; most: number };

const TOP_LINKS = 10;
const MOST_CANDIDATES = 10_000;
/** A day with as many links as are counted one by one takes a millisecond, which redirects wait for. */
const DAYS_AT_A_TIME = 5;
/** A link's document with the breakdowns of a busy day takes some milliseconds to read. */
const LINKS_AT_A_TIME = 5;

/** @throws invalid_range, what the store throws */
export async function accountAnalytics(
  { readStore }: Deps,
  accountId: string,
  range: AccountRange,
  now: Date,
): Promise<AccountAnalytics> {
  const to = range.to ?? now.getTime();
  const from = range.from ?? (await firstDay({ readStore }, accountId, range, to));
  const { interval, starts } = pointsOf(range, { from, to });
  const inRange: InRange = (day) => quartersIn(day, { from, to: range.to ?? Number.POSITIVE_INFINITY });
  const hits = hitSum(starts, range.kinds);
  const top = topLinks(inRange, range.kinds);
  const query = { range: daysOf(accountId, from, to), limit: DAYS_AT_A_TIME };
  const pages = documentPages<AccountDayDocument>(readStore, accountDays.collection.name, query);
  for await (const page of pages)
    for (const day of page) {
      hits.add(dateOf(day), inRange(day));
      top.add(day);
    }
  return { interval, ...hits.result(), top: await top.best({ readStore }, TOP_LINKS) };
}

/** Where a range without a beginning has its first hits; its last day when it has none. */
async function firstDay({ readStore }: Deps, accountId: string, { zone }: AccountRange, to: number) {
  const query = { range: daysOf(accountId, undefined, to), limit: 1 };
  const [first] = await readStore.find<DayDocument>(accountDays.collection.name, query);
  return startOfDay(zone, first ? midnightOf(dateOf(first)) : to - 1);
}

/** Ids of the UTC days. */
function daysOf(accountId: string, from: number | undefined, to: number) {
  const id = (instant: number) => dayOf(accountId, utcDate(new Date(instant)));
  return { field: "_id", from: from === undefined ? dayOf(accountId, "") : id(from), to: `${id(to)}~` };
}

function topLinks(inRange: InRange, kinds: RangeRequest["kinds"]) {
  let candidates = new Map<string, Candidate>();
  const cutDays: string[] = [];
  const withBots = kinds.includes("preview");
  let leavesOut = false;
  return {
    /** Days come once each. */
    add(day: AccountDayDocument): void {
      const quarters = inRange(day).length;
      if (quarters === 0) return;
      const isWhole = quarters === day.quarters.length;
      if (!isWhole) cutDays.push(dateOf(day));
      for (const [link, click, preview, qrScan] of day.links) {
        if (link === OTHER) leavesOut = true;
        const hits = click + qrScan + (withBots ? preview : 0);
        if (link === OTHER || hits === 0) continue;
        const candidate = candidates.get(link) ?? { link, whole: 0, most: 0 };
        if (isWhole) candidate.whole += hits;
        candidate.most += hits;
        candidates.set(link, candidate);
      }
      if (candidates.size <= MOST_CANDIDATES) return;
      leavesOut = true;
      const kept = ranked(candidates).slice(0, MOST_CANDIDATES / 2);
      candidates = new Map(kept.map((one) => [one.link, one]));
    },
    /** Most hits first, without deleted links. @throws what the store throws */
    async best({ readStore }: Deps, limit: number): Promise<TopLinks> {
      const all = ranked(candidates);
      let best: ClickedLink[] = [];
      for (let n = 0; n < all.length; n += LINKS_AT_A_TIME) {
        const next = all.slice(n, n + LINKS_AT_A_TIME);
        const isDecided = best.length === limit && (best.at(-1)?.clicks ?? 0) >= (next[0]?.most ?? 0);
        if (isDecided) break;
        const ids = next.map(({ link }) => link);
        const hits = await hitsOn({ readStore }, ids, cutDays, inRange, kinds);
        const documents = await readStore.getMany<LinkDocument>(links.collection.name, ids);
        const byId = new Map(documents.map((document) => [document._id, document]));
        const found = next.flatMap(({ link, whole }) => {
          const document = byId.get(link);
          const clicks = whole + (hits.get(link) ?? 0);
          return document && !document.deleted && clicks > 0 ? [{ ...document, clicks }] : [];
        });
        best = [...best, ...found].sort(byClicks).slice(0, limit);
        await yieldToLoop();
      }
      return { links: best, leavesOut };
    },
  };
}

/** By link, its hits in the parts of the days that are in the range. */
async function hitsOn(
  { readStore }: Deps,
  ids: readonly string[],
  days: readonly string[],
  inRange: InRange,
  kinds: RangeRequest["kinds"],
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  if (days.length === 0) return counts;
  const wanted = ids.flatMap((link) => days.map((day) => dayOf(link, day)));
  const read = await readStore.getMany<DayDocument>(linkDays.collection.name, wanted, ["quarters"]);
  const byId = new Map(read.map((day) => [day._id, day]));
  for (const link of ids) {
    const hits = hitCounts();
    for (const day of days) {
      const found = byId.get(dayOf(link, day));
      for (const quarter of found ? inRange(found) : []) addHits(hits, quarter, kinds);
    }
    counts.set(link, hits.total);
  }
  return counts;
}

/** Those that may have most hits first. */
function ranked(candidates: ReadonlyMap<string, Candidate>): Candidate[] {
  return [...candidates.values()].sort((a, b) => b.most - a.most || (a.link < b.link ? -1 : 1));
}

function byClicks(a: ClickedLink, b: ClickedLink): number {
  return b.clicks - a.clicks || (a._id < b._id ? -1 : 1);
}
