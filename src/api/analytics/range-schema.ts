// Query parameters and answer of analytics of a range of time, for validation and the OpenAPI document.
import { z } from "zod";
import { LINK_STATUSES } from "../../events/links/link-status.ts";
import { CLICK_KINDS, UTM_FIELDS } from "../../events/vocabulary.ts";
import { INTERVALS, MOST_POINTS } from "../../queries/analytics/intervals.ts";
import { GapsSchema } from "./gaps.ts";
import { OtherSchema, RulesSchema } from "./rules-schema.ts";

const text = z.string().max(100);

export const RangeParameters = z.object({
  from: text.optional().meta({
    description:
      "Clicks at or after this time, ISO 8601: with an offset, else in `timezone`; a date alone is the start of that day. Default: the day of the link's creation or first click.",
    examples: ["2026-11-01"],
  }),
  to: text
    .optional()
    .meta({ description: "Clicks before this time. Default: now", examples: ["2026-12-01"] }),
  interval: z
    .enum(INTERVALS)
    .optional()
    .meta({
      description: `Length of the points of \`series\`, of which there may be ${MOST_POINTS}; weeks begin on Monday. Default: \`day\``,
    }),
  timezone: text.optional().meta({
    description: "IANA time zone of intervals and of times without an offset. Default: UTC",
    examples: ["Europe/Berlin"],
  }),
  kind: z.enum(CLICK_KINDS).optional().meta({ description: "Only hits of this kind" }),
  as_of: text.optional().meta({
    description:
      "A time, or a position of the log such as `as_of_position` of another answer: the link and its numbers as they stood then, from the clicks recorded up to it",
    examples: ["2026-11-15T00:00:00Z"],
  }),
});

const time = z.string().meta({ format: "date-time" });
const count = z.int().meta({ minimum: 0 });
const counts = z.record(z.string(), z.int());

const kinds = Object.fromEntries(CLICK_KINDS.map((kind) => [kind, count]));

export const RangeAnalyticsSchema = z
  .object({
    link: z.object({
      id: z.string(),
      long_url: z.string(),
      created_at: z.string(),
      status: z.enum(LINK_STATUSES).meta({
        description: "What a visitor meets now, or with a time in `as_of` met then",
      }),
    }),
    range: z.object({
      from: time,
      to: time,
      interval: z.enum(INTERVALS),
      timezone: z.string(),
      kind: z.enum(CLICK_KINDS).nullable().meta({ description: "Null for all kinds" }),
    }),
    analytics: z.object({
      totalClicks: count.meta({ description: "Hits of every kind in the range" }),
      actualClicks: count.meta({ description: "Clicks of people other than QR scans" }),
      previews: count,
      qrScans: count,
      eventTypes: z.object(kinds),
      devices: counts,
      countries: counts,
      referrers: counts,
      cities: counts,
      browsers: counts,
      os: counts,
      utm: z.object(Object.fromEntries(UTM_FIELDS.map((field) => [field, counts]))),
      rules: RulesSchema,
      other: OtherSchema,
      series: z
        .array(z.object({ start: time, total: count, ...kinds }))
        .meta({ description: "Zero-filled; the first point begins with the range" }),
      dailyUniques: z.array(z.object({ day: z.string(), visitors: count })).meta({
        description:
          "Distinct visitors of each UTC day with any, of which only the part within the range; visitors are not recognised from one day to the next",
      }),
    }),
    gaps: GapsSchema,
    as_of_position: z.string().meta({
      description: "The numbers are made of exactly the clicks recorded up to this position of the log",
    }),
    behind_ms: count.meta({
      description: "How long ago the first click after `as_of_position` was recorded; 0 when there is none",
    }),
  })
  .meta({ id: "RangeAnalytics" });

export type RangeAnswer = z.infer<typeof RangeAnalyticsSchema>;
