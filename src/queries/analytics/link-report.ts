// Data of a link's analytics page, with the log position from which live updates continue.
import type { Position } from "../../event-store/port.ts";
import type { ClickKind } from "../../events/vocabulary.ts";
import { linkClicks } from "../../projections/definitions/link-clicks.ts";
import { type RecentClick, recentClick } from "../../projections/definitions/recent-clicks.ts";
import { checkpointName } from "../../projections/projection.ts";
import type { Breakdowns } from "./breakdowns.ts";
import { type LinkClicksDeps, readLinkClicks } from "./link-clicks.ts";
import { daysIn, type Range, type TimeSeries, timeSeries } from "./time-series.ts";

/** `series`: of the range. `totals` and breakdowns: of all time. */
export type LinkReport = Breakdowns & {
  series: TimeSeries;
  totals: Record<ClickKind, number> & { total: number };
  recent: RecentClick[];
  /** The report contains exactly the link's hits up to this position; "" for an empty log. */
  position: Position;
};

/** `link`: its key. */
export async function linkReport(
  deps: LinkClicksDeps,
  link: string,
  range: Range,
  now: Date,
): Promise<LinkReport> {
  const checkpoint = (await deps.readStore.checkpoint(checkpointName(linkClicks)))?.position ?? "";
  const { clicks, days, breakdowns, utm } = await readLinkClicks(deps, link, daysIn(range, now));
  const own = clicks?._position ?? "";
  return {
    series: timeSeries(range, now, days),
    totals: {
      click: clicks?.click ?? 0,
      preview: clicks?.preview ?? 0,
      qr_scan: clicks?.qr_scan ?? 0,
      total: clicks?.totalClicks ?? 0,
    },
    ...{ breakdowns, utm },
    recent: (clicks?.recent ?? []).map(recentClick),
    // The checkpoint was read before the documents, so they contain at least all hits up to it.
    position: [own, checkpoint].sort().at(-1) ?? "",
  };
}
