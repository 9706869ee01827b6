// GET /api/v1/analytics/{slug}: the Analytics object of one of the caller's links (interface, parts 2 and 4).
import type { Caller } from "../../commands/caller.ts";
import { type ClickKind, UTM_FIELDS, type UtmField } from "../../events/vocabulary.ts";
import { type RecentClick, recentClick } from "../../projections/definitions/recent-clicks.ts";
import type { ValueCount } from "../../projections/definitions/tally.ts";
import { type FindLinkDeps, findOwnLink } from "../links/find-link.ts";
import { hitCounts } from "./hit-counts.ts";
import { type LinkClicksDeps, readLinkClicks } from "./link-clicks.ts";
import { daysIn, timeSeries } from "./time-series.ts";

/** Value to count; without a prototype, so that any value can be a key. */
export type Counts = Record<string, number>;

export type Analytics = {
  link: { id: string; long_url: string; created_at: string };
  analytics: {
    totalClicks: number;
    actualClicks: number;
    previews: number;
    qrScans: number;
    eventTypes: Record<ClickKind, number>;
    devices: Counts;
    countries: Counts;
    referrers: Counts;
    cities: Counts;
    browsers: Counts;
    os: Counts;
    /** The last 24 hours including the current one: start of the hour (ISO 8601 UTC) to hits of all kinds. */
    hourlyClicks: Counts;
    utm: Record<UtmField, Counts>;
    recentClicks: RecentClick[];
  };
};

export type LinkAnalyticsDeps = FindLinkDeps & LinkClicksDeps;

/** Always present, even without hits (interface, part 2). */
export const DEVICES_SHOWN: Readonly<Counts> = { mobile: 0, desktop: 0, tablet: 0 };

/**
 * All zeros for a link without hits.
 * @throws Forbidden for another account's link, NotFound when there is none
 */
export async function linkAnalytics(
  deps: LinkAnalyticsDeps,
  caller: Pick<Caller, "accountId">,
  slug: string,
  domainId: string | undefined,
  now: Date,
): Promise<Analytics> {
  const link = await findOwnLink(deps, caller, slug, domainId);
  const read = await readLinkClicks(deps, link._id, daysIn("24h", now));
  const { clicks, days, breakdowns } = read;
  const hours = timeSeries("24h", now, days).points;
  const { total, ...eventTypes } = hitCounts(clicks);
  const utm = UTM_FIELDS.map((field) => [field, counts(read.utm[field])] as const);
  return {
    link: { id: link.slug, long_url: link.longUrl, created_at: link.createdAt },
    analytics: {
      totalClicks: total,
      actualClicks: eventTypes.click,
      previews: eventTypes.preview,
      qrScans: eventTypes.qr_scan,
      eventTypes,
      devices: { ...DEVICES_SHOWN, ...counts(breakdowns.devices) },
      countries: counts(breakdowns.countries),
      referrers: counts(breakdowns.referrers),
      cities: counts(breakdowns.cities),
      browsers: counts(breakdowns.browsers),
      os: counts(breakdowns.os),
      hourlyClicks: Object.fromEntries(hours.map(({ start, total }) => [start, total])),
      utm: Object.fromEntries(utm) as Record<UtmField, Counts>,
      recentClicks: (clicks?.recent ?? []).map(recentClick),
    },
  };
}

/** Without a prototype, because values come from strangers' requests and may be `__proto__`. */
export function counts(values: readonly ValueCount[]): Counts {
  const object: Counts = Object.create(null);
  for (const [value, count] of values) object[value] = count;
  return object;
}
