// Schemas of requests and responses (interface, part 2), used for validation and for the OpenAPI document.

import { z } from "zod";
import { BULK_MAX_LINKS, CLICK_KINDS, type ClickKind, TIERS } from "../events/vocabulary.ts";
import { LinkDetailsObject, LinkObject } from "../queries/links/link-object.ts";
import { causesOf, type ErrorStatus } from "./openapi/error-causes.ts";

export const time = z.string().meta({ format: "date-time" });
export const count = z.int().meta({ minimum: 0 });
/** Hits by a value, such as a country. */
export const counts = z.record(z.string(), count);
/** Hits of each kind. */
export const countsByKind = Object.fromEntries(CLICK_KINDS.map((kind) => [kind, count])) as Record<
  ClickKind,
  typeof count
>;
export const nextCursor = z.string().nullable().meta({ description: "For the next page; null on the last" });

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

export const LinkPageSchema = z
  .object({
    links: z.array(LinkDetailsObject),
    total: z.int().meta({ description: "Links that match, on all pages" }),
    next_cursor: nextCursor,
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

/** Response schemas for the given statuses; 429, 500 and 503 are added to every route. */
export function apiErrors(...statuses: ErrorStatus[]) {
  const all: ErrorStatus[] = [...statuses, 429, 500, 503];
  return Object.fromEntries(
    all.map((status) => [status, ErrorAnswerSchema.describe(causesOf(status))]),
  ) as Record<ErrorStatus, typeof ErrorAnswerSchema>;
}
