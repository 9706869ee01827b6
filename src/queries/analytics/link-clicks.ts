// Reads the click documents of one link at one consistent position, so that the sums of an answer agree.
import { type DayDocument, dayOf } from "../../projections/definitions/days/days.ts";
import { linkDays } from "../../projections/definitions/days/link-days.ts";
import { type LinkClicksDocument, linkClicks } from "../../projections/definitions/link-clicks.ts";
import type { Document, ReadStore } from "../../read-store/port.ts";

/** `clicks`: undefined for a link without hits; `days`: only days with hits. */
export type LinkClicks = { clicks: LinkClicksDocument | undefined; days: DayDocument[] };

export type LinkClicksDeps = { readStore: ReadStore; sleep: (ms: number) => Promise<void> };

const TRIES = 10;
const BETWEEN_TRIES_MS = 5;

/**
 * Days are written before or with the other document: those that are read after it and are not newer are consistent with
 * it. Retries for about 50 ms while a commit is in flight; if the documents still differ (a projection is faulted or
 * catching up), returns them as they are.
 * @param days YYYY-MM-DD
 */
export async function readLinkClicks(
  { readStore, sleep }: LinkClicksDeps,
  link: string,
  days: readonly string[],
): Promise<LinkClicks> {
  for (let attempt = 1; ; attempt += 1) {
    const clicks = await readStore.get<LinkClicksDocument>(linkClicks.collection.name, link);
    const ids = days.map((day) => dayOf(link, day));
    const found = await readStore.getMany<DayDocument>(linkDays.collection.name, ids, ["quarters"]);
    const agree = found.every((day) => at(day) <= at(clicks));
    if (agree || attempt === TRIES) return { clicks, days: found };
    await sleep(BETWEEN_TRIES_MS);
  }
}

function at(document: Document | undefined): string {
  return document?._position ?? "";
}
