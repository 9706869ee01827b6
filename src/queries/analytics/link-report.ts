// What the analytics page of one link shows, and from which event on live updates must continue it.
import type { Position } from "../../event-store/port.ts";
import { type ClickKind, UTM_FIELDS, type UtmField } from "../../events/vocabulary.ts";
import { DIMENSIONS, type Dimension } from "../../projections/definitions/link-breakdowns.ts";
import { linkTotals } from "../../projections/definitions/link-totals.ts";
import type { RecentClick } from "../../projections/definitions/recent-clicks.ts";
import { OTHER, type Tally } from "../../projections/definitions/tally.ts";
import { checkpointName } from "../../projections/projection.ts";
import { type LinkClicksDeps, readLinkClicks } from "./link-clicks.ts";
import { daysIn, type Range, type TimeSeries, timeSeries } from "./time-series.ts";

/** `breakdowns` and `totals` since the link was made, largest first, `other` last; `series` of the range. */
export type LinkReport = {
  series: TimeSeries;
  totals: Record<ClickKind, number> & { total: number };
  breakdowns: Record<Dimension, Tally>;
  utm: Record<UtmField, Tally>;
  recent: RecentClick[];
  /** Hits of this link after it are not in the report, all others are; the empty text for an empty log. */
  position: Position;
};

/** `link`: its key. */
export async function linkReport(
  deps: LinkClicksDeps,
  link: string,
  range: Range,
  now: Date,
): Promise<LinkReport> {
  const passed = (await deps.readStore.checkpoint(checkpointName(linkTotals)))?.position ?? "";
  const { totals, breakdowns, recent, days } = await readLinkClicks(deps, link, daysIn(range, now));
  const own = totals?._position ?? "";
  const dimensions = DIMENSIONS.map((name) => [name, ranked(breakdowns?.[name])] as const);
  const utm = UTM_FIELDS.map((name) => [name, ranked(breakdowns?.utm[name])] as const);
  return {
    series: timeSeries(range, now, days),
    totals: {
      click: totals?.click ?? 0,
      preview: totals?.preview ?? 0,
      qr_scan: totals?.qr_scan ?? 0,
      total: totals?.totalClicks ?? 0,
    },
    breakdowns: Object.fromEntries(dimensions) as Record<Dimension, Tally>,
    utm: Object.fromEntries(utm) as Record<UtmField, Tally>,
    recent: recent?.clicks ?? [],
    // The checkpoint was read before the documents, so whichever is later is what they hold.
    position: [own, passed].sort().at(-1) ?? "",
  };
}

function ranked(tally: Tally = []): Tally {
  const last = ([value]: Tally[number]) => (value === OTHER ? 1 : 0);
  return [...tally].sort((a, b) => last(a) - last(b) || b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}
