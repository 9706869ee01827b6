// Reads the click documents of one link at one consistent position of the log, so that the sums of an answer agree.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { queriedBuild } from "../../projections/builds/build.ts";
import { readBuilds } from "../../projections/builds/builds-document.ts";
import { dayOf } from "../../projections/definitions/days/days.ts";
import type { LinkDayDocument } from "../../projections/definitions/days/link-day.ts";
import { earlierOf, type LinkClicksDocument, linkClicks } from "../../projections/definitions/link-clicks.ts";
import { checkpointName, type Projection, partsCollection } from "../../projections/projection.ts";
import { documentPages } from "../../read-store/document-pages.ts";
import type { ReadStore } from "../../read-store/port.ts";

/** The collection of the days that are over. */
export const LINK_DAYS = partsCollection(linkClicks.collection.name);

/** A day whose tallies are full takes some three milliseconds, which redirects wait for. */
const PAGE = 4;
const TRIES = 10;
const BETWEEN_TRIES_MS = 5;

/**
 * The days between two UTC dates, YYYY-MM-DD, inclusive, in order. `clicks`: undefined for a link without hits.
 * `earlier`, where asked for: breakdowns of all days before its latest one. All clicks up to `position` are in the days;
 * those with a higher `_position` contain later ones, too. `rules`: under which their clicks were classified again;
 * undefined: as recorded.
 * Retries for about 50 ms while a commit is in flight, after which no part has later clicks than `position`; with `earlier`,
 * than `clicks`. Parts are written before or with their document.
 */
export async function readLinkDays(
  {
    readStore,
    sleep,
  }: { readStore: Pick<ReadStore, "checkpoint" | "find" | "get">; sleep: (ms: number) => Promise<void> },
  link: string,
  wanted: { from?: string | undefined; to?: string | undefined; withEarlier?: boolean },
) {
  const { from = "0000-01-01", to = "9999-12-31", withEarlier = false } = wanted;
  const build = queriedBuild(linkClicks as unknown as Projection, await readBuilds(readStore));
  for (let attempt = 1; ; attempt += 1) {
    const position = (await readStore.checkpoint(checkpointName(linkClicks)))?.position ?? "";
    // Before its parts, so that a day that ends meanwhile is in both rather than in none.
    const clicks = await readStore.get<LinkClicksDocument>(linkClicks.collection.name, link);
    const present = clicks && clicks.date >= from && clicks.date <= to ? presentDay(clicks) : undefined;
    const days = eachOnce(await daysThatAreOver(readStore, link, { from, to }), present);
    const earlier = withEarlier
      ? await readStore.get<LinkDayDocument>(LINK_DAYS, earlierOf(link))
      : undefined;
    const reached = withEarlier ? (clicks?._position ?? "") : position;
    const isConsistent = [...days, ...(earlier ? [earlier] : [])].every((part) => part._position <= reached);
    if (isConsistent || attempt === TRIES) return { clicks, earlier, days, position, rules: build?.rules };
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
function eachOnce(over: readonly LinkDayDocument[], present: LinkDayDocument | undefined): LinkDayDocument[] {
  if (!present) return [...over];
  const same = over.find(({ _id }) => _id === present._id);
  if (same && same._position > present._position) return [...over];
  return [...over.filter((one) => one !== same), present].sort((a, b) => (a._id < b._id ? -1 : 1));
}
