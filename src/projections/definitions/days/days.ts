// Hits by UTC day, quarter-hour and kind, for time series; here those of accounts, those of links in link-day.ts.
import type { LinkClicked } from "../../../events/catalogue.ts";
import { CLICK_KINDS, type ClickKind } from "../../../events/vocabulary.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import type { Document } from "../../../stores/read-store/port.ts";
import type { Projection } from "../../projection.ts";
import { addLinkHits, type LinkHits } from "./link-hits.ts";

/** The number of the quarter-hour in the UTC day, 0 to 95, and its hits by kind, in the order of CLICK_KINDS. */
export type QuarterHour = [quarter: number, click: number, preview: number, qrScan: number];

/** `_id`: `<subject>@YYYY-MM-DD`. `quarters`: those with a hit, in order. Quarters, as time zones differ by quarters. */
export type DayDocument = Document & { quarters: QuarterHour[] };

/** `at`: any instant of the day, ISO 8601 UTC. */
export function dayOf(subject: string, at: string): string {
  return `${subject}@${at.slice(0, 10)}`;
}

/** YYYY-MM-DD of a day's document. */
export function dateOf({ _id }: Pick<DayDocument, "_id">): string {
  return _id.slice(-10);
}

/** Hits of all kinds. */
export function hitsOf({ quarters }: Pick<DayDocument, "quarters">): number {
  return quarters.reduce((sum, [, ...hits]) => sum + hits.reduce((total, other) => total + other), 0);
}

/** Hits of one kind. */
export function hitsOfKind({ quarters }: Pick<DayDocument, "quarters">, kind: ClickKind): number {
  const column = indexOf(kind);
  return quarters.reduce((sum, quarter) => sum + quarter[column], 0);
}

/** Counts the hit in its quarter-hour, in place. */
export function countHit(
  quarters: QuarterHour[],
  { at, kind }: Pick<LinkClicked["data"], "at" | "kind">,
  by: 1 | -1 = 1,
): void {
  const quarter = twoDigits(at, 11) * 4 + Math.floor(twoDigits(at, 14) / 15);
  let place = quarters.length;
  // From the end, as nearly all hits are in the latest quarter.
  while (place > 0 && (quarters[place - 1] as QuarterHour)[0] > quarter) place -= 1;
  const latest = quarters[place - 1];
  const hits: QuarterHour = latest?.[0] === quarter ? latest : [quarter, 0, 0, 0];
  hits[indexOf(kind)] += by;
  if (hits !== latest) quarters.splice(place, 0, hits);
}

/** Adds hits of another list, or takes them out where they are negative; a quarter-hour without hits goes. */
export function addQuarters(quarters: readonly QuarterHour[], added: readonly QuarterHour[]): QuarterHour[] {
  const sums = new Map<number, QuarterHour>();
  for (const [quarter, ...hits] of [...quarters, ...added]) {
    const sum: QuarterHour = sums.get(quarter) ?? [quarter, 0, 0, 0];
    for (const [n, count] of hits.entries()) sum[(n + 1) as 1 | 2 | 3] += count;
    sums.set(quarter, sum);
  }
  return [...sums.values()]
    .filter(([, ...hits]) => hits.some((count) => count !== 0))
    .sort(([a], [b]) => a - b);
}

/** The number in two digits of a text. Each click needs two, and `Number` of a slice takes several times as long. */
function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
}

function indexOf(kind: ClickKind): 1 | 2 | 3 {
  return (CLICK_KINDS.indexOf(kind) + 1) as 1 | 2 | 3;
}

/**
 * `first`: position of the day's first click in the log, also of a withdrawn one. `_corrected`: the last event about withdrawn
 * clicks that is in it; the fold's own, as `_position`.
 */
export type AccountDayDocument = DayDocument & { first: Position; links: LinkHits[]; _corrected?: Position };

/** One document for each day on which one of the account's links was hit, for the dashboard. */
export const accountDays: Projection<AccountDayDocument> = {
  name: "account-days",
  collection: { name: "account-days", indexes: [] },
  handles: ["LinkClicked"],
  key(event) {
    const { accountId, at } = event.data as LinkClicked["data"];
    return dayOf(accountId, at);
  },
  empty: ({ position }) => ({ first: position, quarters: [], links: [] }),
  evolve: (day, event) => (event.type === "LinkClicked" ? withLinkHit(day, event.data) : day),
};

/** Counts the click, in place. */
export function withLinkHit<Day extends Pick<AccountDayDocument, "quarters" | "links">>(
  day: Day,
  click: LinkClicked["data"],
): Day {
  countHit(day.quarters, click);
  const { link, kind } = click;
  if (kind === "preview") addLinkHits(day.links, [link, 0, 1]);
  else addLinkHits(day.links, [link, 1, 0]);
  return day;
}
