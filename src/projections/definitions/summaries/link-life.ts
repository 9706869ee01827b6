// What is kept of a link's closed days together: the sum of its days in `link-days`.
import { CLICK_KINDS, type ClickKind } from "../../../events/vocabulary.ts";
import type { CollectionSpec, Document } from "../../../stores/read-store/port.ts";
import type { Fields } from "../../projection.ts";
import { addBreakdowns, type Breakdown } from "./breakdown.ts";
import { type HitPlace, hitsOfKind, type LinkDayDocument } from "./day.ts";

/** Of people, and of bots. */
export const MOST_RECENT = 10;

/**
 * `_id`: link key. `lastDay`: the latest day that it contains, YYYY-MM-DD. A day that is open again may be contained with
 * what it was before: a reader who finds one up to `lastDay` among the open days sums the days themselves. `kinds`: those
 * with hits. `recent`: the last ten hits by people and the last ten by bots, latest first.
 */
export type LinkLifeDocument = Document &
  Record<ClickKind, number> & {
    accountId: string;
    lastDay: string;
    firstAt: string;
    lastAt: string;
    kinds: { [K in ClickKind]?: Breakdown };
    recent: HitPlace[];
  };

export const linkLife: CollectionSpec = { name: "link-life", indexes: [] };

/** With a later day of the link; the order of its bounded lists depends on that of the days. */
export function withDay(
  life: Fields<LinkLifeDocument> | undefined,
  { accountId, day, firstAt, lastAt, kinds, recent, quarters }: LinkDayDocument,
): Fields<LinkLifeDocument> {
  const before = life ?? noLife(accountId);
  const summed = { ...before, lastDay: day, recent: latestHits([...before.recent, ...recent]) };
  if (quarters.length === 0) return summed;
  if (summed.firstAt === "" || firstAt < summed.firstAt) summed.firstAt = firstAt;
  if (lastAt > summed.lastAt) summed.lastAt = lastAt;
  summed.kinds = { ...before.kinds };
  for (const kind of CLICK_KINDS) {
    const ofDay = kinds[kind];
    if (!ofDay) continue;
    summed[kind] += hitsOfKind({ quarters }, kind);
    const { tallies, utm, rules } = ofDay;
    summed.kinds[kind] = addBreakdowns(summed.kinds[kind], {
      tallies,
      ...(utm && { utm }),
      ...(rules && { rules }),
    });
  }
  return summed;
}

export function noLife(accountId: string): Fields<LinkLifeDocument> {
  const counts = { click: 0, preview: 0, qr_scan: 0 };
  return { accountId, ...counts, lastDay: "", firstAt: "", lastAt: "", kinds: {}, recent: [] };
}

/** The last ten by people and the last ten by bots, latest first. */
export function latestHits(hits: readonly HitPlace[]): HitPlace[] {
  const latest = hits.toSorted(byTime);
  const of = (isBot: boolean) =>
    latest.filter(({ kind }) => (kind === "preview") === isBot).slice(0, MOST_RECENT);
  return [...of(false), ...of(true)].sort(byTime);
}

/** Latest first; of the same time the later one in the log. */
export function byTime(a: HitPlace, b: HitPlace): number {
  if (a.at !== b.at) return a.at > b.at ? -1 : 1;
  return a.position > b.position ? -1 : 1;
}
