// What is kept of a link's closed days together: the sum of its days in `link-days`.
import { CLICK_KINDS, type ClickKind, RECENT_CLICKS } from "../../../events/vocabulary.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import type { CollectionSpec, Document } from "../../../stores/read-store/port.ts";
import type { Fields } from "../../projection.ts";
import { addBreakdowns, type Breakdown } from "./breakdown.ts";
import { type HitPlace, hitsOfKind, type LinkDayDocument } from "./day.ts";
import { MOST_VALUES } from "./tally.ts";

/**
 * `_id`: link key. `lastDay`: the latest day that it contains, YYYY-MM-DD; `lastDayPosition`: of its last event there. A day that is open again may be contained with
 * what it was before: a reader who finds one up to `lastDay` among the open days sums the days themselves. `kinds`: those
 * with hits. `recent`: the last ten, latest first.
 */
export type LinkLifeDocument = Document &
  Record<ClickKind, number> & {
    accountId: string;
    lastDay: string;
    lastDayPosition: Position;
    firstAt: string;
    lastAt: string;
    kinds: { [K in ClickKind]?: Breakdown };
    recent: HitPlace[];
  };

export const linkLife: CollectionSpec = { name: "link-life", indexes: [] };

/** What is added to a life. `lastDay`: of days that come after those in it; `position`: of its last event. */
export type LifePart = Omit<Fields<LinkLifeDocument>, "kinds"> & {
  kinds: { [K in ClickKind]?: Breakdown };
  position: Position;
};

export function partOfDay({ accountId, day, firstAt, lastAt, recent, ...of }: LinkDayDocument): LifePart {
  const [click = 0, preview = 0, qr_scan = 0] = CLICK_KINDS.map((kind) => hitsOfKind(of, kind));
  const { kinds, _position: position } = of;
  const times = { lastDay: day, lastDayPosition: position, firstAt, lastAt };
  return { accountId, ...times, click, preview, qr_scan, kinds, recent, position };
}

/** With a later part; the order of its bounded lists depends on that of the days. */
export function withPart(
  life: Fields<LinkLifeDocument> | undefined,
  part: LifePart,
): Fields<LinkLifeDocument> {
  const before = life ?? noLife(part.accountId);
  const summed = {
    ...before,
    lastDay: part.lastDay,
    lastDayPosition: part.lastDayPosition,
    recent: before.recent.length === 0 ? part.recent : latestHits([...before.recent, ...part.recent]),
    kinds: {} as LinkLifeDocument["kinds"],
  };
  if (summed.firstAt === "" || (part.firstAt !== "" && part.firstAt < summed.firstAt))
    summed.firstAt = part.firstAt;
  if (part.lastAt > summed.lastAt) summed.lastAt = part.lastAt;
  for (const kind of CLICK_KINDS) {
    const [summedBefore, added] = [before.kinds[kind], part.kinds[kind]];
    if (summedBefore && !added) summed.kinds[kind] = summedBefore;
    if (!added) continue;
    summed[kind] += part[kind];
    const { tallies, utm, rules } = added;
    summed.kinds[kind] = addBreakdowns(summedBefore, {
      tallies,
      ...(utm && { utm }),
      ...(rules && { rules }),
    });
  }
  return summed;
}

/** Whether no list is cut where so many hits are added, so that it is the same whether they are added day by day or together. */
export function hasRoom(life: Fields<LinkLifeDocument> | undefined, hits: number): boolean {
  return Object.values(life?.kinds ?? {}).every(({ tallies, utm = {}, rules = [] }) =>
    [...tallies, ...Object.values(utm), rules].every((tally) => tally.length / 2 + hits <= MOST_VALUES),
  );
}

function noLife(accountId: string): Fields<LinkLifeDocument> {
  const counts = { click: 0, preview: 0, qr_scan: 0 };
  const none = { lastDay: "", lastDayPosition: "", firstAt: "", lastAt: "" };
  return { accountId, ...counts, ...none, kinds: {}, recent: [] };
}

/** The last ones, latest first. */
export function latestHits(hits: readonly HitPlace[]): HitPlace[] {
  return hits.toSorted(byTime).slice(0, RECENT_CLICKS);
}

/** Latest first; of the same time the later one in the log. */
export function byTime(a: HitPlace, b: HitPlace): number {
  if (a.at !== b.at) return a.at > b.at ? -1 : 1;
  return a.position > b.position ? -1 : 1;
}
