// Reads the day documents of a link with the log position as of which they hold its clicks.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { Position } from "../../../event-store/port.ts";
import { queriedBuild } from "../../../projections/builds/build.ts";
import { readBuilds } from "../../../projections/builds/builds-document.ts";
import { dayOf } from "../../../projections/definitions/days/days.ts";
import type { LinkDayDocument } from "../../../projections/definitions/days/link-day.ts";
import { type LinkClicksDocument, linkClicks } from "../../../projections/definitions/link-clicks.ts";
import type { RecentClickRow } from "../../../projections/definitions/recent-clicks.ts";
import { checkpointName, type Projection } from "../../../projections/projection.ts";
import { documentPages } from "../../../read-store/document-pages.ts";
import type { ReadStore } from "../../../read-store/port.ts";
import { LINK_DAYS, presentDay } from "../link-clicks.ts";

export type ReadDaysDeps = {
  readStore: Pick<ReadStore, "checkpoint" | "find" | "get">;
  sleep: (ms: number) => Promise<void>;
};

/**
 * All clicks up to `position` are in the days; those with a higher `_position` contain later ones, too. `rules`: those under
 * which their clicks were classified again; undefined: as recorded.
 */
export type ReadDays = {
  days: LinkDayDocument[];
  /** Of all days, newest first. */
  recent: RecentClickRow[];
  position: Position;
  rules: string | undefined;
};

/** A day whose tallies are full takes some three milliseconds, which redirects wait for. */
const PAGE = 4;
const TRIES = 10;
const BETWEEN_TRIES_MS = 5;

/**
 * In order; `from`, `to`: YYYY-MM-DD, inclusive, undefined for the first and the last. Retries for about 50 ms while a
 * commit is in flight, after which no day has later clicks than `position`.
 */
export async function readLinkDays(
  deps: ReadDaysDeps,
  link: string,
  wanted: { from: string | undefined; to: string | undefined },
): Promise<ReadDays> {
  const { readStore, sleep } = deps;
  const bounds = { from: wanted.from ?? "0000-01-01", to: wanted.to ?? "9999-12-31" };
  const build = queriedBuild(linkClicks as unknown as Projection, await readBuilds(readStore));
  for (let attempt = 1; ; attempt += 1) {
    const position = (await readStore.checkpoint(checkpointName(linkClicks)))?.position ?? "";
    // Before its parts, so that a day that ends meanwhile is in both rather than in none.
    const clicks = await readStore.get<LinkClicksDocument>(linkClicks.collection.name, link);
    const present = clicks && isIn(bounds, clicks.date) ? presentDay(clicks) : undefined;
    const days = eachOnce(await readDays(readStore, link, bounds), present);
    const isConsistent = days.every(({ _position }) => _position <= position);
    if (isConsistent || attempt === TRIES)
      return { days, recent: clicks?.recent ?? [], position, rules: build?.rules };
    await sleep(BETWEEN_TRIES_MS);
  }
}

type Bounds = { from: string; to: string };

function isIn({ from, to }: Bounds, date: string): boolean {
  return date >= from && date <= to;
}

/** Days that are over; the thread does other work between the pages. */
async function readDays(
  readStore: Pick<ReadStore, "find">,
  link: string,
  { from, to }: Bounds,
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
