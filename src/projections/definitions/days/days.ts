// Hits by UTC day, quarter-hour and kind, for time series: of links in link-day.ts, of accounts in account-day.ts.
import type { LinkClicked } from "../../../events/catalogue.ts";
import { CLICK_KINDS, type ClickKind } from "../../../events/vocabulary.ts";
import type { Document } from "../../../stores/read-store/port.ts";

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
): void {
  const quarter = twoDigits(at, 11) * 4 + Math.floor(twoDigits(at, 14) / 15);
  let place = quarters.length;
  // From the end, as nearly all hits are in the latest quarter.
  while (place > 0 && (quarters[place - 1] as QuarterHour)[0] > quarter) place -= 1;
  const latest = quarters[place - 1];
  const hits: QuarterHour = latest?.[0] === quarter ? latest : [quarter, 0, 0, 0];
  hits[indexOf(kind)] += 1;
  if (hits !== latest) quarters.splice(place, 0, hits);
}

/** The number in two digits of a text. Each click needs two, and `Number` of a slice takes several times as long. */
function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
}

function indexOf(kind: ClickKind): 1 | 2 | 3 {
  return (CLICK_KINDS.indexOf(kind) + 1) as 1 | 2 | 3;
}
