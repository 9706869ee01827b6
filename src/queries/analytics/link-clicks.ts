// Reads the click documents of one link at one consistent position, so that the sums of an answer agree.
import { type DayDocument, dayOf } from "../../projections/definitions/days/days.ts";
import type { LinkDayDocument } from "../../projections/definitions/days/link-day.ts";
import { earlierOf, type LinkClicksDocument, linkClicks } from "../../projections/definitions/link-clicks.ts";
import { partsCollection } from "../../projections/projection.ts";
import type { Document, ReadStore } from "../../read-store/port.ts";
import { type Breakdowns, breakdownSum } from "./breakdowns.ts";

/** `clicks`: undefined for a link without hits; `days`: only days with hits. Breakdowns: of all time. */
export type LinkClicks = Breakdowns & { clicks: LinkClicksDocument | undefined; days: DayDocument[] };

export type LinkClicksDeps = { readStore: ReadStore; sleep: (ms: number) => Promise<void> };

/** The collection of the days that are over. */
export const LINK_DAYS = partsCollection(linkClicks.collection.name);

const TRIES = 10;
const BETWEEN_TRIES_MS = 5;

/**
 * Parts are written before or with their document: those that are read after it and are not newer are consistent with it.
 * Retries for about 50 ms while a commit is in flight; if they still differ (the projector was killed in the middle of
 * one), returns them as they are.
 * @param days YYYY-MM-DD
 */
export async function readLinkClicks(
  { readStore, sleep }: LinkClicksDeps,
  link: string,
  days: readonly string[],
): Promise<LinkClicks> {
  for (let attempt = 1; ; attempt += 1) {
    const clicks = await readStore.get<LinkClicksDocument>(linkClicks.collection.name, link);
    const ids = days.filter((day) => day !== clicks?.date).map((day) => dayOf(link, day));
    const found = await readStore.getMany<DayDocument>(LINK_DAYS, ids, ["quarters"]);
    const earlier = await readStore.get<LinkDayDocument>(LINK_DAYS, earlierOf(link));
    const agree = [...found, earlier].every((part) => at(part) <= at(clicks));
    if (!agree && attempt < TRIES) {
      await sleep(BETWEEN_TRIES_MS);
      continue;
    }
    const sum = breakdownSum();
    for (const day of [earlier, clicks?.day])
      for (const kind of Object.values(day?.kinds ?? {})) sum.add(kind);
    const present = clicks && days.includes(clicks.date) ? [presentDay(clicks)] : [];
    return { clicks, days: [...found, ...present], ...sum.result() };
  }
}

/** The latest day with hits, as the document of a day that is over. */
export function presentDay({ _id, _position, date, day }: LinkClicksDocument): LinkDayDocument {
  return { ...day, _id: dayOf(_id, date), _position };
}

function at(document: Document | undefined): string {
  return document?._position ?? "";
}
