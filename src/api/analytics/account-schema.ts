// Query parameters and answers of the analytics of an account and of its clicks, for validation and the OpenAPI document.
import { z } from "zod";
import { CLICK_KINDS, DEVICE_TYPES, UTM_FIELDS, type UtmField } from "../../events/vocabulary.ts";
import { INTERVALS } from "../../queries/analytics/intervals.ts";
import { COMPARISONS, GROUPS, type GroupBy } from "../../queries/analytics/question.ts";
import { TABLE_FORMATS } from "../../queries/log-reader/log-reader.ts";
import { count, countsByKind, nextCursor, time } from "../schemas.ts";
import { GapsSchema, RangeParameters } from "./link-schema.ts";

/** How many values one filter takes. */
const MOST_VALUES = 100;
const MOST_ROWS = 1_000;
/** What values are, says acceptFilters. */
const text = z.string().trim().min(1).max(300);
const oneOf = (values: readonly string[]) => text.meta({ enum: [...values] });

/** A parameter that may be repeated: any of the values. */
function anyOf<Value extends z.ZodType<string>>(value: Value, description: string, example: string) {
  return z
    .preprocess(
      (value) => (value === undefined || Array.isArray(value) ? value : [value]),
      z.array(value).min(1).max(MOST_VALUES).optional(),
    )
    .meta({ description: `Only clicks ${description}; repeat it for any of several`, examples: [[example]] });
}

const ofUtm = (field: UtmField) => anyOf(text, `with this utm_${field}`, "spring");

const filters = {
  link: anyOf(text, "of this link: its slug, or `<host>/<slug>`", "k7m2pqx"),
  tag: anyOf(text, "of links that have this tag now", "newsletter"),
  domain: anyOf(text, "of links on this host", "go.example.org"),
  country: anyOf(text, "from this country (ISO 3166-1, two letters), or `unknown`", "FR"),
  region: anyOf(text, "from this region, with its country", "Bavaria, DE"),
  city: anyOf(text, "from this city, with its country", "Paris, FR"),
  referrer: anyOf(text, "that came from this host, or `direct`", "news.example"),
  device: anyOf(oneOf(DEVICE_TYPES), "on such a device", "mobile"),
  browser: anyOf(text, "with this browser", "Firefox"),
  os: anyOf(text, "on this system", "iOS"),
  language: anyOf(text, "of browsers in this language", "fr"),
  ...(Object.fromEntries(UTM_FIELDS.map((field) => [`utm_${field}`, ofUtm(field)])) as Record<
    `utm_${UtmField}`,
    ReturnType<typeof ofUtm>
  >),
  rule: anyOf(text, "that the rule with this id led, or `none` of a link's rules", "none"),
  kind: anyOf(oneOf(CLICK_KINDS), "of this kind", "click"),
  hour: anyOf(text, "in this hour of the day, `00` to `23`", "09"),
  day: anyOf(text, "on this day", "2026-11-01"),
  weekday: anyOf(text, "on this day of the week, `1` for Monday", "1"),
  weekday_hour: anyOf(text, "in this hour of this day of the week", "1-09"),
} satisfies Record<GroupBy, z.ZodType>;

const { from, to, timezone, interval } = RangeParameters.shape;

const common = {
  from: from.meta({ description: "Clicks at or after this time, ISO 8601; default: the first" }),
  to,
  timezone,
  ...filters,
};

/** Strict, as numbers without the filter of a misspelt name would be wrong without a word. */
export const AccountAnalyticsParameters = z.strictObject({
  group_by: z.enum(GROUPS).optional().meta({ description: "What `groups` are; none when absent" }),
  interval: interval.meta({
    description: "Length of the points of `series`; default: one that fits the range",
  }),
  compare: z.enum(COMPARISONS).optional().meta({
    description:
      "Adds the totals and the series of the same hours of the week, month or year before; `previous`: by as many whole days of the time zone as the range is long",
  }),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(MOST_ROWS)
    .default(100)
    .meta({ description: "Of `groups`; the rest is added up in `other`. Hours of the week are all listed" }),
  ...common,
});

export const ClickParameters = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1_000).default(100).meta({ description: "Of a page" }),
  cursor: z.string().max(2_000).optional(),
  ...common,
});

export const ClickExportParameters = z.strictObject({
  format: z.enum(TABLE_FORMATS).default("csv"),
  for: z.literal("spreadsheet").optional().meta({
    description:
      "Only with `csv`: a byte order mark, and `'` before each value that a spreadsheet would run as a formula",
  }),
  ...common,
});

export type FilterParameters = Omit<z.infer<typeof ClickExportParameters>, "format" | "for">;

const totals = {
  people: count.meta({ description: "Clicks and QR scans" }),
  ...countsByKind,
  visitors: count.nullable().meta({
    description:
      "Who made the clicks and QR scans, each counted once a UTC day: nobody is recognised from one day to the next. Null where it isn't known: of the other values of a group together, and with each click whose visitor isn't known, such as one that was imported without an address",
  }),
};

const series = z.array(z.object({ start: time, ...totals })).meta({
  description:
    "Zero-filled; the first point begins with the range. Visitors who came in two points count in both",
});

export const AccountAnalyticsSchema = z
  .object({
    range: z.object({ from: time, to: time, interval: z.enum(INTERVALS), timezone: z.string() }),
    totals: z.object(totals),
    previous: z.object({ from: time, to: time, totals: z.object(totals), series }).optional(),
    series,
    groups: z
      .array(
        z.object({
          value: z.string().meta({ description: "As the filter of this name takes it" }),
          label: z.string().optional().meta({ description: "A link's title" }),
          ...totals,
        }),
      )
      .optional()
      .meta({ description: "Most people first" }),
    other: z
      .object(totals)
      .nullable()
      .optional()
      .meta({ description: "Of all values beyond `limit`; null for none" }),
    gaps: GapsSchema,
    as_of_position: z.string(),
    behind_ms: count.meta({
      description: "How long ago the first click that is not counted yet was recorded; 0 when there is none",
    }),
  })
  .meta({ id: "AccountAnalytics" });

export type AccountAnalyticsAnswer = z.input<typeof AccountAnalyticsSchema>;

export const ClickPageSchema = z
  .object({
    clicks: z.array(z.record(z.string(), z.string()).meta({ id: "Click" })).meta({
      description: "In the order of their recording: the columns of the export; empty for what is not known",
    }),
    next_cursor: nextCursor.meta({
      description: "For the next page, also of an empty one; null on the last",
    }),
  })
  .meta({ id: "ClickPage" });
