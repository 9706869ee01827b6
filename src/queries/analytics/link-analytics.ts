// GET /api/v1/analytics/{slug}: the Analytics object of one of the caller's links (interface, parts 2 and 4).
import type { Caller } from "../../commands/caller.ts";
import { type ClickKind, RECENT_CLICKS, UTM_FIELDS, type UtmField } from "../../events/vocabulary.ts";
import { type DayDocument, dateOf } from "../../projections/definitions/days/days.ts";
import { type RecentClick, recentClick } from "../../projections/definitions/recent-clicks.ts";
import type { ValueCount } from "../../projections/definitions/tally.ts";
import { type FindLinkDeps, findOwnLink } from "../links/find-link.ts";
import { hitCounts } from "./hit-counts.ts";
import { type LinkClicksDeps, readLinkClicks } from "./link-clicks.ts";

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

const HOUR_MS = 3_600_000;

/** Always present, even without hits (interface, part 2). */
export const DEVICES_SHOWN: Readonly<Counts> = { mobile: 0, desktop: 0, tablet: 0 };

/**
 * All zeros for a link without hits.
 * @throws forbidden for another account's link, not_found when there is none
 */
export async function linkAnalytics(
  deps: LinkAnalyticsDeps,
  caller: Pick<Caller, "accountId">,
  slug: string,
  domainId: string | undefined,
  now: Date,
): Promise<Analytics> {
  const link = await findOwnLink(deps, caller, slug, domainId);
  const hours = lastHours(now);
  const read = await readLinkClicks(deps, link._id, [...new Set(hours.map((hour) => hour.slice(0, 10)))]);
  const { clicks, days, breakdowns } = read;
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
      hourlyClicks: hourlyClicks(hours, days),
      utm: Object.fromEntries(utm) as Record<UtmField, Counts>,
      recentClicks: (clicks?.recent ?? []).slice(0, RECENT_CLICKS).map(recentClick),
    },
  };
}

/** The starts of 24 hours, the last of them the present one; ISO 8601 UTC. */
function lastHours(now: Date): string[] {
  const present = Math.floor(now.getTime() / HOUR_MS);
  return Array.from({ length: 24 }, (_, n) => new Date((present - 23 + n) * HOUR_MS).toISOString());
}

function hourlyClicks(hours: readonly string[], days: readonly DayDocument[]): Counts {
  const hits = new Map(hours.map((hour) => [hour, 0]));
  for (const day of days)
    for (const [quarter, ...ofKinds] of day.quarters) {
      const hour = `${dateOf(day)}T${String(Math.floor(quarter / 4)).padStart(2, "0")}:00:00.000Z`;
      const sum = hits.get(hour);
      if (sum !== undefined)
        hits.set(
          hour,
          ofKinds.reduce((all, count) => all + count, sum),
        );
    }
  return Object.fromEntries(hits);
}

/** Without a prototype, because values come from strangers' requests and may be `__proto__`. */
export function counts(values: readonly ValueCount[]): Counts {
  const object: Counts = Object.create(null);
  for (const [value, count] of values) object[value] = count;
  return object;
}
