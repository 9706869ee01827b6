// Reads the click documents of one link at one consistent position of the log, so that the sums of an answer agree.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { queriedBuild } from "../../projections/builds/build.ts";
import { readBuilds } from "../../projections/builds/builds-document.ts";
import { type DayDocument, dayOf } from "../../projections/definitions/days/days.ts";
import type { LinkDayDocument } from "../../projections/definitions/days/link-day.ts";
import { earlierOf, type LinkClicksDocument, linkClicks } from "../../projections/definitions/link-clicks.ts";
import { checkpointName, type Projection, partsCollection } from "../../projections/projection.ts";
import type { Position } from "../../stores/event-store/port.ts";
import { documentPages } from "../../stores/read-store/document-pages.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";

/** The collection of the days that are over. */
export const LINK_DAYS = partsCollection(linkClicks.collection.name);

/** A day whose tallies are full takes some three milliseconds, which redirects wait for. */
const PAGE = 4;
const TRIES = 10;
const BETWEEN_TRIES_MS = 5;

type Deps = {
  readStore: Pick<ReadStore, "checkpoint" | "find" | "get" | "getMany">;
  sleep: (ms: number) => Promise<void>;
};

/**
 * The days between two UTC dates, YYYY-MM-DD, inclusive, in order. `clicks`: undefined for a link without hits.
 * All clicks up to `position` are in the days; those with a higher `_position` contain later ones, too, which is
 * rare (untilConsistent). `rules`: under which their clicks were classified again; undefined: as recorded.
 */
export async function readLinkDays(
  { readStore, sleep }: Deps,
  link: string,
  { from = "0000-01-01", to = "9999-12-31" }: { from?: string | undefined; to?: string | undefined },
) {
  const build = queriedBuild(linkClicks as unknown as Projection, await readBuilds(readStore));
  return await untilConsistent(sleep, async () => {
    const { position, clicks } = await readClicks(readStore, link);
    const present = clicks && clicks.date >= from && clicks.date <= to ? presentDay(clicks) : undefined;
    const days = eachOnce(await daysThatAreOver(readStore, link, { from, to }), present);
    return { found: { clicks, days, position, rules: build?.rules }, parts: days, upTo: position };
  });
}

/**
 * As readLinkDays, with the breakdowns of all days: those of the latest one are in `clicks`, those before it in
 * `earlier`. Of the `dates`, YYYY-MM-DD, only the quarter-hours are read, a small part of their documents.
 */
export async function readWholeLife({ readStore, sleep }: Deps, link: string, dates: readonly string[]) {
  const ids = [...new Set(dates)].map((date) => dayOf(link, date));
  return await untilConsistent(sleep, async () => {
    const { position, clicks } = await readClicks(readStore, link);
    const present = clicks && dates.includes(clicks.date) ? presentDay(clicks) : undefined;
    const over = await readStore.getMany<DayDocument>(LINK_DAYS, ids, ["quarters"]);
    const days = eachOnce(over, present);
    const earlier = await readStore.get<LinkDayDocument>(LINK_DAYS, earlierOf(link));
    const parts = earlier ? [...days, earlier] : days;
    return { found: { clicks, earlier, days, position }, parts, upTo: clicks?._position ?? "" };
  });
}

/** Before the parts, so that a day that ends meanwhile is in both rather than in none. */
async function readClicks(readStore: Deps["readStore"], link: string) {
  const position = (await readStore.checkpoint(checkpointName(linkClicks)))?.position ?? "";
  const clicks = await readStore.get<LinkClicksDocument>(linkClicks.collection.name, link);
  return { position, clicks };
}

/**
 * Retries for about 50 ms while a commit is in flight, after which no part has later clicks than the event at
 * `upTo`. Parts are written before or with their document.
 */
async function untilConsistent<Found>(
  sleep: Deps["sleep"],
  read: () => Promise<{ found: Found; parts: readonly DayDocument[]; upTo: Position }>,
): Promise<Found> {
  for (let attempt = 1; ; attempt += 1) {
    const { found, parts, upTo } = await read();
    if (attempt === TRIES || parts.every(({ _position }) => _position <= upTo)) return found;
    await sleep(BETWEEN_TRIES_MS);
  }
}

/** The latest day with hits, as the document of a day that is over. */
export function presentDay({ _id, _position, date, day }: LinkClicksDocument): LinkDayDocument {
  return { ...day, _id: dayOf(_id, date), _position };
}

/** The thread does other work between the pages. */
async function daysThatAreOver(
  readStore: Pick<ReadStore, "find">,
  link: string,
  { from, to }: { from: string; to: string },
): Promise<LinkDayDocument[]> {
  const range = { field: "_id", from: dayOf(link, from), to: `${dayOf(link, to)}~` };
  const days: LinkDayDocument[] = [];
  for await (const page of documentPages<LinkDayDocument>(readStore, LINK_DAYS, { range, limit: PAGE })) {
    days.push(...page);
    await yieldToLoop();
  }
  return days;
}

/** Of a day that was read twice the newer: it has ended meanwhile, or its document is from when its clicks were withdrawn. */
function eachOnce<Day extends DayDocument>(over: readonly Day[], present: Day | undefined): Day[] {
  if (!present) return [...over];
  const same = over.find(({ _id }) => _id === present._id);
  if (same && same._position > present._position) return [...over];
  return [...over.filter((one) => one !== same), present].sort((a, b) => (a._id < b._id ? -1 : 1));
}
