// Data of a link's analytics page, with the log position from which live updates continue.
import type { Position } from "../../event-store/port.ts";
import { linkClicks } from "../../projections/definitions/link-clicks.ts";
import { type RecentClick, recentClick } from "../../projections/definitions/recent-clicks.ts";
import { checkpointName } from "../../projections/projection.ts";
import type { Breakdowns } from "./breakdowns.ts";
import { type HitCounts, hitCounts } from "./hit-counts.ts";
import { type LinkClicksDeps, readLinkClicks } from "./link-clicks.ts";
import { daysIn, type Range, type TimeSeries, timeSeries } from "./time-series.ts";

/** `series`: of the range. `totals` and breakdowns: of all time. */
export type LinkReport = Breakdowns & {
  series: TimeSeries;
  totals: HitCounts;
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
    totals: hitCounts(clicks),
    ...{ breakdowns, utm },
    recent: (clicks?.recent ?? []).map(recentClick),
    // The checkpoint was read before the documents, so they contain at least all hits up to it.
    position: [own, checkpoint].sort().at(-1) ?? "",
  };
}
