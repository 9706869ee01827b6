// Schemas of requests and responses (interface, part 2), used for validation and for the OpenAPI document.

import { z } from "zod";
import { BULK_MAX_LINKS, CLICK_KINDS, DEVICE_TYPES, TIERS } from "../events/vocabulary.ts";
import { LinkDetailsObject, LinkObject } from "../queries/links/link-object.ts";
import { OtherSchema, RulesSchema } from "./analytics/rules-schema.ts";
import { causesOf, type ErrorStatus } from "./openapi/error-causes.ts";

/**
 * The use case validates the items one by one, so that one invalid item does not fail the others. `item`: its
 * schema's id.
 */
export function bulkRequestOf(id: string, item: string) {
  return z
    .strictObject({
      links: z
        .array(z.unknown().meta({ $ref: `#/components/schemas/${item}` }))
        .min(1, "must hold at least one link")
        .max(BULK_MAX_LINKS, `must hold at most ${BULK_MAX_LINKS} links`),
    })
    .meta({ id });
}

export const BulkRequestSchema = bulkRequestOf("BulkRequest", "ShortenRequest");

const index = z.int().meta({ description: "Position in the request" });
const { qr_download_url: _, ...linkOfBulk } = LinkObject.shape;
const codeOfItem = z.string().meta({
  description:
    "That of the error which the item would get alone; with `store_unavailable`, `revision_conflict` or " +
    "`internal_error` the service failed: repeat the item, or with its Idempotency-Key the whole request",
});

export const BulkAnswerSchema = z
  .object({
    success: z.boolean().meta({ description: "Whether at least one link was created" }),
    tier: z.enum(TIERS),
    total: z.int().meta({ description: "Items submitted" }),
    created: z.int(),
    failed: z.int(),
    results: z.array(
      z.object({
        index,
        ...linkOfBulk,
        existing: z
          .literal(true)
          .optional()
          .meta({ description: "Found by `find_existing`; not counted as created" }),
      }),
    ),
    errors: z.array(z.object({ index, url: z.string(), error: z.string(), code: codeOfItem })),
  })
  .meta({ id: "BulkAnswer" });

/** The answer to a bulk request that changes links. `done`: the member that says how many were. */
export function bulkAnswerOf<Done extends string>(id: string, done: Done) {
  return z
    .object({
      success: z.boolean().meta({ description: "Whether at least one link was found and is as wanted" }),
      tier: z.enum(TIERS),
      total: z.int().meta({ description: "Items submitted" }),
      [done]: z.int(),
      failed: z.int(),
      results: z.array(z.object({ index, ...LinkDetailsObject.shape })),
      errors: z.array(z.object({ index, slug: z.string(), error: z.string(), code: codeOfItem })),
    })
    .meta({ id });
}

const counts = z.record(z.string(), z.int());
const kinds = z.object(Object.fromEntries(CLICK_KINDS.map((kind) => [kind, z.int()])));

const RecentClickSchema = z
  .object({
    at: z.string().meta({ format: "date-time" }),
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
    link: z.object({ id: z.string(), long_url: z.string(), created_at: z.string() }),
    analytics: z.object({
      totalClicks: z.int().meta({ description: "Hits of every kind" }),
      actualClicks: z.int().meta({ description: "Clicks of people other than QR scans" }),
      previews: z.int(),
      qrScans: z.int(),
      eventTypes: kinds,
      devices: counts,
      cities: counts,
      browsers: counts,
      os: counts,
      countries: counts.meta({ description: "By ISO 3166-1 alpha-2 code, or `unknown`" }),
      referrers: counts.meta({ description: "By host without `www.`, or `direct`" }),
      hourlyClicks: counts.meta({ description: "The last 24 hours, zero-filled, by UTC hour" }),
      utm: z.record(z.string(), counts),
      rules: RulesSchema,
      other: OtherSchema,
      recentClicks: z.array(RecentClickSchema).meta({ description: "The last 10, newest first" }),
    }),
    as_of: z.string().optional().meta({
      description:
        "Only while clicks are still being counted: all before this time (ISO 8601 UTC) are in these numbers",
    }),
  })
  .meta({ id: "Analytics" });

export const LinkPageSchema = z
  .object({
    links: z.array(LinkDetailsObject),
    total: z.int().meta({ description: "Links that match, on all pages" }),
    next_cursor: z.string().nullable().meta({ description: "For the next page; null on the last" }),
  })
  .meta({ id: "LinkPage" });

export const ErrorAnswerSchema = z
  .object({
    error: z.string().meta({ description: "For people" }),
    code: z.string().meta({ description: "For programs; never changes" }),
    request_id: z.string().meta({ description: "Also in the x-request-id header and in our log" }),
  })
  .meta({ id: "Error" });

export const SlugParams = z.object({ slug: z.string().meta({ examples: ["k7m2pqx"] }) });

export const DomainIdQuery = z.string().max(100).toLowerCase().optional().meta({
  format: "uuid",
  description: "Only on this custom domain, as a slug may be on several",
});

/** For the OpenAPI document only; idempotency.ts validates the header, with an error code of its own. */
export const IdempotencyHeader = z.object({
  "idempotency-key": z
    .string()
    .optional()
    .meta({
      description:
        "1 to 255 printable ASCII characters; the same key and body within 24 hours is the same answer",
      examples: ["order-4711"],
    }),
});

/** Response schemas for the given statuses; 429, 500 and 503 are added to every route. */
export function apiErrors(...statuses: ErrorStatus[]) {
  const all: ErrorStatus[] = [...statuses, 429, 500, 503];
  return Object.fromEntries(
    all.map((status) => [status, ErrorAnswerSchema.describe(causesOf(status))]),
  ) as Record<ErrorStatus, typeof ErrorAnswerSchema>;
}
