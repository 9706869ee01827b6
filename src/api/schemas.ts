// Shapes of requests and answers (interface, part 2): what is checked and what the OpenAPI document shows are one.
import { z } from "zod";
import { BULK_MAX_LINKS, CLICK_KINDS, DEVICE_TYPES, TIERS } from "../events/vocabulary.ts";

const longUrl = "https://example.com/articles/event-sourcing?utm_source=newsletter";
const domainId = "3f0d5f2e-6f1c-4b52-9c1b-0f6f7a1f4f11";
const link = {
  short_url: z.url().meta({ description: "Absolute short URL", examples: ["https://lnk.example/k7m2pqx"] }),
  slug: z.string().meta({ examples: ["k7m2pqx"] }),
  long_url: z.string().meta({ description: "The original URL", examples: [longUrl] }),
  created_at: z.string().meta({ format: "date-time", examples: ["2026-01-31T12:00:00.000Z"] }),
};
const onCustomDomain = {
  custom_domain: z
    .string()
    .optional()
    .meta({ description: "Only on a custom domain", examples: ["go.example.org"] }),
  domain_id: z
    .string()
    .optional()
    .meta({ format: "uuid", description: "Only on a custom domain", examples: [domainId] }),
};

export const Link = z
  .object({
    ...link,
    qr_download_url: z.string().meta({ examples: ["https://lnk.example/api/qr/k7m2pqx"] }),
    ...onCustomDomain,
  })
  .meta({ id: "Link", description: "A short link" });

/** Formats of customSlug and domain_id are rules of the use case: their order with 402 matters (DESIGN §7). */
export const ShortenRequest = z
  .strictObject({
    url: z.string("must be a string: the HTTP/HTTPS URL to shorten").meta({
      description: "HTTP/HTTPS URL to shorten, at most 2,048 characters",
      examples: [longUrl],
    }),
    customSlug: z
      .string()
      .optional()
      .meta({
        description:
          "3 to 50 of a-z, A-Z, 0-9, hyphen, underscore; read as lower case. Developer tier; needs domain_id.",
        pattern: "^[A-Za-z0-9_-]{3,50}$",
        examples: ["spring-sale"],
      }),
    domain_id: z
      .string()
      .optional()
      .meta({
        format: "uuid",
        description: "A verified and active custom domain of the caller. Developer tier.",
        examples: [domainId],
      }),
  })
  .meta({ id: "ShortenRequest" });

/** Items are checked one by one in the use case, so that one bad item never stops the others. */
export const BulkRequest = z
  .strictObject({
    links: z
      .array(z.unknown().meta({ $ref: "#/components/schemas/ShortenRequest" }))
      .min(1, "must hold at least one link")
      .max(BULK_MAX_LINKS, `must hold at most ${BULK_MAX_LINKS} links`),
  })
  .meta({ id: "BulkRequest" });

export const BulkAnswer = z
  .object({
    success: z.boolean().meta({ description: "Whether at least one link was created" }),
    tier: z.enum(TIERS),
    total: z.int().meta({ description: "Items submitted" }),
    created: z.int(),
    failed: z.int(),
    results: z.array(
      z.object({
        index: z.int().meta({ description: "Position in the request" }),
        ...link,
        ...onCustomDomain,
      }),
    ),
    errors: z.array(
      z.object({
        index: z.int().meta({ description: "Position in the request" }),
        url: z.string(),
        error: z.string(),
      }),
    ),
  })
  .meta({ id: "BulkAnswer" });

const counts = z.record(z.string(), z.int());
const kinds = z.object(Object.fromEntries(CLICK_KINDS.map((kind) => [kind, z.int()])));

export const RecentClick = z
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

export const Analytics = z
  .object({
    link: z.object({ id: z.string(), long_url: z.string(), created_at: z.string() }),
    analytics: z.object({
      totalClicks: z.int().meta({ description: "All events: clicks, previews and QR scans" }),
      actualClicks: z.int(),
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
      recentClicks: z.array(RecentClick).meta({ description: "The last 10, newest first" }),
    }),
  })
  .meta({ id: "Analytics" });

export const LinkPage = z
  .object({
    links: z.array(Link),
    total: z.int().meta({ description: "Links that match, on all pages" }),
    next_cursor: z.string().nullable().meta({ description: "For the next page; null on the last" }),
  })
  .meta({ id: "LinkPage" });

export const ErrorAnswer = z
  .object({
    error: z.string().meta({ description: "For people" }),
    code: z.string().meta({ description: "For programs; never changes" }),
    request_id: z.string().meta({ description: "Also in the x-request-id header and in our log" }),
  })
  .meta({ id: "Error" });

export const SlugParams = z.object({ slug: z.string().meta({ examples: ["k7m2pqx"] }) });

export const DomainIdQuery = z.string().max(100).toLowerCase().optional().meta({
  format: "uuid",
  description: "Which domain, when the slug exists on several",
});

/** Shown, not checked here: its own error has its own code (idempotency.ts). */
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
