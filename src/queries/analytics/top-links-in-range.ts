// The links of an account with most hits in a range of time: by the days of the account, and where the range cuts one, by
// that day of the links themselves.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { ClickKind } from "../../events/vocabulary.ts";
import {
  type AccountDayDocument,
  type DayDocument,
  dateOf,
  dayOf,
  type QuarterHour,
} from "../../projections/definitions/days/days.ts";
import { type LinkClicksDocument, linkClicks } from "../../projections/definitions/link-clicks.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import { OTHER } from "../../projections/definitions/tally.ts";
import type { ReadStore } from "../../read-store/port.ts";
import { addHits, hitCounts } from "./hit-counts.ts";
import { LINK_DAYS, presentDay } from "./link-clicks.ts";

/** The quarter-hours of a day that lie in the range. */
export type QuartersIn = (day: Pick<DayDocument, "_id" | "quarters">) => QuarterHour[];

/** `whole`: hits on days that are in the range as a whole; `most`: with all hits of the days that it cuts. */
type Candidate = { link: string; whole: number; most: number };

/** `clicks`: hits in the range. */
export type ClickedLink = LinkDocument & { clicks: number };

/** `leavesOut`: whether there were more links than are counted one by one, so that numbers may be too low. */
export type TopLinks = { links: ClickedLink[]; leavesOut: boolean };

const MOST_CANDIDATES = 10_000;
/** A link's document with the breakdowns of a busy day takes some milliseconds to read. */
const READ_AT_A_TIME = 5;

export function topLinksIn(quartersIn: QuartersIn, kinds: readonly ClickKind[]) {
  let candidates = new Map<string, Candidate>();
  const cutDays: string[] = [];
  const withBots = kinds.includes("preview");
  let leavesOut = false;
  return {
    /** Days come once each. */
    add(day: AccountDayDocument): void {
      const inRange = quartersIn(day).length;
      if (inRange === 0) return;
      const isWhole = inRange === day.quarters.length;
      if (!isWhole) cutDays.push(dateOf(day));
      for (const [link, people, bots] of day.links) {
        if (link === OTHER) leavesOut = true;
        const hits = people + (withBots ? bots : 0);
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
    async best({ readStore }: { readStore: ReadStore }, limit: number): Promise<TopLinks> {
      const all = ranked(candidates);
      let best: ClickedLink[] = [];
      for (let n = 0; n < all.length; n += READ_AT_A_TIME) {
        const next = all.slice(n, n + READ_AT_A_TIME);
        const isDecided = best.length === limit && (best.at(-1)?.clicks ?? 0) >= (next[0]?.most ?? 0);
        if (isDecided) break;
        const inCutDays = await hitsOn(readStore, next, cutDays, quartersIn, kinds);
        const documents = await readStore.getMany<LinkDocument>(links.collection.name, next.map(idOf));
        const byId = new Map(documents.map((document) => [document._id, document]));
        const found = next.flatMap(({ link, whole }) => {
          const document = byId.get(link);
          const clicks = whole + (inCutDays.get(link) ?? 0);
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
  readStore: ReadStore,
  candidates: readonly Candidate[],
  days: readonly string[],
  quartersIn: QuartersIn,
  kinds: readonly ClickKind[],
): Promise<Map<string, number>> {
  if (days.length === 0) return new Map();
  const ids = candidates.map(idOf);
  // Before the days that are over, so that one that ends meanwhile is in both rather than in none.
  const fields = ["date", "day"];
  const latest = await readStore.getMany<LinkClicksDocument>(linkClicks.collection.name, ids, fields);
  const wanted = ids.flatMap((link) => days.map((day) => dayOf(link, day)));
  const over = await readStore.getMany<DayDocument>(LINK_DAYS, wanted, ["quarters"]);
  const byId = new Map([...latest.map(presentDay), ...over].map((day) => [day._id, day]));
  return new Map(
    ids.map((link) => {
      const hits = hitCounts();
      for (const day of days) {
        const found = byId.get(dayOf(link, day));
        for (const quarter of found ? quartersIn(found) : []) addHits(hits, quarter, kinds);
      }
      return [link, hits.total];
    }),
  );
}

/** Those that may have most hits first. */
function ranked(candidates: ReadonlyMap<string, Candidate>): Candidate[] {
  return [...candidates.values()].sort((a, b) => b.most - a.most || (a.link < b.link ? -1 : 1));
}

function byClicks(a: ClickedLink, b: ClickedLink): number {
  return b.clicks - a.clicks || (a._id < b._id ? -1 : 1);
}

function idOf({ link }: Candidate): string {
  return link;
}
