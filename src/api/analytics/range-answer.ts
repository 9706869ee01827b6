// The answer of a range of time, from its numbers: names and shapes as those of the Analytics object (interface, part 2).
import { UTM_FIELDS } from "../../events/vocabulary.ts";
import { DIMENSIONS } from "../../projections/definitions/click-dimensions.ts";
import { counts, DEVICES_SHOWN } from "../../queries/analytics/link-analytics.ts";
import type { RangeAnalytics } from "../../queries/analytics/ranges/range-analytics.ts";
import type { RangeRequest } from "../../queries/analytics/ranges/range-request.ts";
import { isoIn } from "../../queries/analytics/ranges/time-zone.ts";
import type { RangeAnswer } from "./range-schema.ts";

export function rangeAnswer({ zone, kinds }: RangeRequest, found: RangeAnalytics): RangeAnswer {
  const [kind = null, ...others] = kinds;
  const { link, interval, totals, series, breakdowns, utm, visitors } = found;
  const { total, ...eventTypes } = totals;
  const iso = (instant: number) => isoIn(zone, instant);
  const ofDimensions = Object.fromEntries(DIMENSIONS.map((name) => [name, counts(breakdowns[name])]));
  return {
    link: { id: link.slug, long_url: link.longUrl, created_at: link.createdAt, status: link.status },
    range: {
      from: iso(found.from),
      to: iso(found.to),
      interval,
      timezone: zone.name,
      kind: others.length > 0 ? null : kind,
    },
    analytics: {
      totalClicks: total,
      actualClicks: eventTypes.click,
      previews: eventTypes.preview,
      qrScans: eventTypes.qr_scan,
      eventTypes,
      ...(ofDimensions as Pick<RangeAnswer["analytics"], (typeof DIMENSIONS)[number]>),
      devices: { ...DEVICES_SHOWN, ...counts(breakdowns.devices) },
      utm: Object.fromEntries(UTM_FIELDS.map((field) => [field, counts(utm[field])])),
      series: series.map(({ start, total: all, ...ofKinds }) => ({
        start: iso(start),
        total: all,
        ...ofKinds,
      })),
      dailyUniques: visitors,
    },
    as_of_position: found.position,
    behind_ms: found.behindMs,
  };
}
