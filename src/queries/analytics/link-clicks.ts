// Reads the click documents of one link at one consistent position, so that the sums of an answer agree.
import { type DayDocument, dayOf, linkDays } from "../../projections/definitions/days.ts";
import {
  type LinkBreakdownsDocument,
  linkBreakdowns,
} from "../../projections/definitions/link-breakdowns.ts";
import { type LinkTotalsDocument, linkTotals } from "../../projections/definitions/link-totals.ts";
import { type RecentClicksDocument, recentClicks } from "../../projections/definitions/recent-clicks.ts";
import type { Document, ReadStore } from "../../read-store/port.ts";

/** Documents are undefined for a link without hits; `days`: only days with hits. */
export type LinkClicks = {
  totals: LinkTotalsDocument | undefined;
  breakdowns: LinkBreakdownsDocument | undefined;
  recent: RecentClicksDocument | undefined;
  days: DayDocument[];
};

export type LinkClicksDeps = { readStore: ReadStore; sleep: (ms: number) => Promise<void> };

const TRIES = 10;
const BETWEEN_TRIES_MS = 5;

/**
 * Every hit changes totals, breakdowns and recent clicks, so these three are consistent when their `_position` is equal.
 * The runner commits the days first: days that are read last and are not newer than the totals are consistent with them.
 * Retries for about 50 ms while a commit is in flight; if the documents still differ (a projection is faulted or
 * catching up), returns them as they are.
 * @param days YYYY-MM-DD
 */
export async function readLinkClicks(
  { readStore, sleep }: LinkClicksDeps,
  link: string,
  days: readonly string[],
): Promise<LinkClicks> {
  for (let attempt = 1; ; attempt += 1) {
    const totals = await readStore.get<LinkTotalsDocument>(linkTotals.collection.name, link);
    const breakdowns = await readStore.get<LinkBreakdownsDocument>(linkBreakdowns.collection.name, link);
    const recent = await readStore.get<RecentClicksDocument>(recentClicks.collection.name, link);
    const ids = days.map((day) => dayOf(link, day));
    const found = await readStore.getMany<DayDocument>(linkDays.collection.name, ids);
    const agree =
      at(totals) === at(breakdowns) &&
      at(totals) === at(recent) &&
      found.every((day) => at(day) <= at(totals));
    if (agree || attempt === TRIES) return { totals, breakdowns, recent, days: found };
    await sleep(BETWEEN_TRIES_MS);
  }
}

function at(document: Document | undefined): string {
  return document?._position ?? "";
}
