// Query parameters and answers of the analytics of a link, of its whole life (interface, part 2) and of a range of time, for validation
// and the OpenAPI document.
import { z } from "zod";
import { LINK_STATUSES } from "../../events/links/link-status.ts";
import { CLICK_KINDS, DEVICE_TYPES, UTM_FIELDS } from "../../events/vocabulary.ts";
import { INTERVALS, MOST_POINTS } from "../../queries/analytics/intervals.ts";
import { count, counts, countsByKind, time } from "../schemas.ts";

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

const RuleSchema = z
  .object({
    id: z.string().nullable().meta({ description: "Null: none of the rules that the link had at that time" }),
    name: z
      .string()
      .optional()
      .meta({ description: "That the rule has now", examples: ["Variant B"] }),
    hits: count,
    destinations: counts.meta({
      description: "Where it led; those over 150 characters are cut and have a code",
      examples: [{ "https://example.com/b": 30 }],
    }),
  })
  .meta({ id: "RuleHits" });
export type RuleAnswer = z.infer<typeof RuleSchema>;

const rules = z.array(RuleSchema).optional().meta({
  description: "Hits since the link has had rules, by the rule that led them; only where it has had one",
});

const other = counts.optional().meta({
  description:
    "Hits of the values that a breakdown doesn't list, by its name, such as `cities`, `utm_source` or `rules`; absent where each is listed",
  examples: [{ cities: 12 }],
});

export const GapsSchema = z
  .array(z.object({ from: time, until: time, hits: z.int().meta({ minimum: 1 }) }))
  .optional()
  .meta({
    description:
      "Where the service led visitors on and could not record the clicks, which the numbers lack: the first, the last, and how many of all its links. Absent for none",
  });

/** The link that the numbers are of. */
const link = { id: z.string(), long_url: z.string(), created_at: z.string() };

/** What the numbers of a link's whole life and of a range both have. */
const numbers = {
  totalClicks: count.meta({ description: "Hits of every kind" }),
  actualClicks: count.meta({ description: "Clicks of people other than QR scans" }),
  previews: count,
  qrScans: count,
  eventTypes: z.object(countsByKind),
  devices: counts,
  cities: counts,
  browsers: counts,
  os: counts,
  countries: counts.meta({ description: "By ISO 3166-1 alpha-2 code, or `unknown`" }),
  referrers: counts.meta({ description: "By host without `www.`, or `direct`" }),
  utm: z.object(Object.fromEntries(UTM_FIELDS.map((field) => [field, counts]))),
  rules,
  other,
};

const RecentClickSchema = z
  .object({
    at: time,
    type: z.enum(CLICK_KINDS),
    device: z.enum(DEVICE_TYPES),
    browser: z.string(),
    browser_version: z.string(),
    os: z.string(),
    user_agent: z.string(),
    country: z.string(),
    city: z.string(),
    ip: z.string().meta({ description: "Anonymised: IPv4 /24, IPv6 /48", examples: ["203.0.113.0"] }),
    referrer: z.string(),
    utm: z.record(z.string(), z.string()),
  })
  .meta({ id: "RecentClick" });

export const AnalyticsSchema = z
  .object({
    link: z.object(link),
    analytics: z.object({
      ...numbers,
      hourlyClicks: counts.meta({ description: "The last 24 hours, zero-filled, by UTC hour" }),
      recentClicks: z.array(RecentClickSchema).meta({ description: "The last 10, newest first" }),
    }),
    as_of: z.string().optional().meta({
      description:
        "Only while clicks are still being counted: all before this time (ISO 8601 UTC) are in these numbers",
    }),
  })
  .meta({ id: "Analytics" });

export const RangeAnalyticsSchema = z
  .object({
    link: z.object({
      ...link,
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
      ...numbers,
      series: z
        .array(z.object({ start: time, total: count, ...countsByKind }))
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
