// Reads the click documents of one link at one consistent position of the log, so that the sums of an answer agree.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { queriedBuild } from "../../projections/builds/builds.ts";
import { readBuilds } from "../../projections/builds/builds-document.ts";
import { type DayDocument, dayOf } from "../../projections/definitions/days/days.ts";
import { type LinkDayDocument, linkDays } from "../../projections/definitions/days/link-day.ts";
import { type LinkClicksDocument, linkClicks } from "../../projections/definitions/link-clicks.ts";
import { clicks as clickGroup } from "../../projections/groups.ts";
import { type Position, START } from "../../stores/event-store/port.ts";
import { documentPages } from "../../stores/read-store/document-pages.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";

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
  const build = queriedBuild(clickGroup, await readBuilds(readStore, clickGroup));
  return await untilConsistent(sleep, async () => {
    const { position, clicks } = await readClicks(readStore, link);
    const days = await daysBetween(readStore, link, { from, to });
    return { found: { clicks, days, position, rules: build?.rules }, days, upTo: position };
  });
}

/** Of the `dates`, YYYY-MM-DD, only the quarter-hours are read, a small part of their documents. */
export async function readWholeLife({ readStore, sleep }: Deps, link: string, dates: readonly string[]) {
  const ids = [...new Set(dates)].map((date) => dayOf(link, date));
  return await untilConsistent(sleep, async () => {
    const { position, clicks } = await readClicks(readStore, link);
    const found = await readStore.getMany<DayDocument>(linkDays.collection.name, ids, ["quarters"]);
    const days = found.sort((a, b) => (a._id < b._id ? -1 : 1));
    return { found: { clicks, days, position }, days, upTo: clicks?._position ?? START };
  });
}

async function readClicks(readStore: Deps["readStore"], link: string) {
  const position = (await readStore.checkpoint(clickGroup.name))?.position ?? START;
  const clicks = await readStore.get<LinkClicksDocument>(linkClicks.collection.name, link);
  return { position, clicks };
}

/** Retries for about 50 ms while a commit is in flight, after which no day has later clicks than the event at `upTo`. */
async function untilConsistent<Found>(
  sleep: Deps["sleep"],
  read: () => Promise<{ found: Found; days: readonly DayDocument[]; upTo: Position }>,
): Promise<Found> {
  for (let attempt = 1; ; attempt += 1) {
    const { found, days, upTo } = await read();
    if (attempt === TRIES || days.every(({ _position }) => eventOf(_position) <= eventOf(upTo))) return found;
    await sleep(BETWEEN_TRIES_MS);
  }
}

/** The last event in a document; one that was corrected has a position behind it. */
function eventOf(position: Position): Position {
  return position.replace(/\++$/, "");
}

/** The thread does other work between the pages. */
async function daysBetween(
  readStore: Pick<ReadStore, "find">,
  link: string,
  { from, to }: { from: string; to: string },
): Promise<LinkDayDocument[]> {
  const range = { field: "_id", from: dayOf(link, from), to: `${dayOf(link, to)}~` };
  const days: LinkDayDocument[] = [];
  const pages = documentPages<LinkDayDocument>(readStore, linkDays.collection.name, { range, limit: PAGE });
  for await (const page of pages) {
    days.push(...page);
    await yieldToLoop();
  }
  return days;
}
