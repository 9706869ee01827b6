// The Link object of HTTP answers (interface, part 2): its schema, and the conversion from a link. And the
// requests for a new one and for changes, which the API, each item of a bulk request and OpenAPI share.
import { z } from "zod";
import type { LinkBlock, LinkFlags } from "../../events/link-events.ts";
import { LINK_STATUSES, type LinkStatus } from "../../events/links/link-status.ts";
import { fieldsOf, linkFields, shownLinkFields } from "./fields/link-fields.ts";
import type { LinkDetails } from "./link.ts";

/** Longer than any slug and any id. */
const MOST_NAME = 100;

/** `custom_domain` and `domain_id` only for a link on a custom domain. */
export const LinkObject = z
  .object({
    short_url: z.url().meta({ description: "Absolute short URL", examples: ["https://lnk.example/k7m2pqx"] }),
    slug: z.string().meta({ examples: ["k7m2pqx"] }),
    long_url: z.string().meta({
      description: "The original URL",
      examples: ["https://example.com/articles/event-sourcing?utm_source=newsletter"],
    }),
    created_at: z.string().meta({ format: "date-time", examples: ["2026-01-31T12:00:00.000Z"] }),
    qr_download_url: z.string().meta({ examples: ["https://lnk.example/api/qr/k7m2pqx"] }),
    custom_domain: z
      .string()
      .optional()
      .meta({ description: "Only on a custom domain", examples: ["go.example.org"] }),
    domain_id: z
      .string()
      .optional()
      .meta({
        format: "uuid",
        description: "Only on a custom domain",
        examples: ["3f0d5f2e-6f1c-4b52-9c1b-0f6f7a1f4f11"],
      }),
    ...shownLinkFields,
  })
  .meta({
    id: "Link",
    description: "A short link; what it carries besides its destination only where it is set",
  });

export type LinkObject = z.infer<typeof LinkObject>;

/** `baseUrl`: without a trailing slash. Projected documents hold null where events omit a member. */
export function linkObject(
  link: Omit<LinkDetails, "makerId" | "domainId"> & { domainId?: string | null | undefined },
  baseUrl: string,
): LinkObject {
  const qr = `${baseUrl}/api/qr/${encodeURIComponent(link.slug)}`;
  const common = {
    short_url: link.shortUrl,
    slug: link.slug,
    long_url: link.longUrl,
    created_at: link.createdAt,
  };
  const fields = fieldsOf(link);
  if (!link.domainId) return { ...common, qr_download_url: qr, ...fields };
  return {
    ...common,
    // A slug is unique per host only: without the id the QR code of another domain's link could be served.
    qr_download_url: `${qr}?domain_id=${link.domainId}`,
    custom_domain: link.host,
    domain_id: link.domainId,
    ...fields,
  };
}

/** The use case checks the formats of customSlug and domain_id, because 402 comes before them. */
export const ShortenRequest = z
  .strictObject({
    url: z.string("must be a string: the HTTP/HTTPS URL to shorten").meta({
      description: "HTTP/HTTPS URL to shorten, at most 8,192 characters",
      examples: ["https://example.com/articles/event-sourcing?utm_source=newsletter"],
    }),
    customSlug: z
      .string("must be a string")
      .optional()
      .meta({
        description:
          "3 to 50 of a-z, A-Z, 0-9, hyphen, underscore; read as lower case. Developer tier; needs domain_id " +
          "where the service keeps slugs for custom domains (`BASE_HOST_SLUGS`).",
        pattern: "^[A-Za-z0-9_-]{3,50}$",
        examples: ["spring-sale"],
      }),
    domain_id: z
      .string("must be a string")
      .optional()
      .meta({
        format: "uuid",
        description: "A verified and active custom domain of the caller. Developer tier.",
        examples: ["3f0d5f2e-6f1c-4b52-9c1b-0f6f7a1f4f11"],
      }),
    ...linkFields,
    find_existing: z
      .boolean("must be true or false")
      .optional()
      .meta({
        description:
          "With true a live link of the account to the same destination, on the same domain and with the same fields, is " +
          "answered instead of a new one: 200 instead of 201. With customSlug only that of this slug. One with a password " +
          "is never the same.",
      }),
  })
  .meta({ id: "ShortenRequest" });

export type ShortenRequest = z.infer<typeof ShortenRequest>;

/** What people try to change, and what to do instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  long_url: "the destination is changed by url",
  slug: "the slug of a link stays: create another link",
  customSlug: "the slug of a link stays: create another link",
  domain_id: "the domain of a link stays: it is named in the query",
  status: "a link is disabled by disabled, deleted by DELETE",
};

export const PatchRequest = z
  .strictObject(
    {
      url: z
        .string("must be a string: the new HTTP/HTTPS URL")
        .optional()
        .meta({ description: "The new destination", examples: ["https://example.com/articles/cqrs"] }),
      disabled: z
        .boolean("must be true or false")
        .optional()
        .meta({ description: "A disabled link answers 404 until it is enabled" }),
      ...linkFields,
    },
    {
      error: (issue) =>
        issue.code === "unrecognized_keys" && issue.keys.some((key) => Object.hasOwn(INSTEAD, key))
          ? `can't have ${issue.keys.map(insteadOf).join(", ")}`
          : undefined,
    },
  )
  .meta({
    id: "PatchRequest",
    description: "What is absent stays as it is; null clears a field",
  });

function insteadOf(name: string): string {
  return Object.hasOwn(INSTEAD, name) ? `${name} (${INSTEAD[name]})` : name;
}

export type PatchRequest = z.infer<typeof PatchRequest>;

/** An item of a bulk request. */
export const NamedLink = z
  .strictObject({
    slug: z
      .string("must be a string")
      .max(MOST_NAME, `must have at most ${MOST_NAME} characters`)
      .meta({ examples: ["k7m2pqx"] }),
    domain_id: z
      .string("must be a string")
      .max(MOST_NAME, `must have at most ${MOST_NAME} characters`)
      .optional()
      .meta({ format: "uuid", description: "Only on this custom domain, as a slug may be on several" }),
  })
  .meta({ id: "NamedLink" });

/** What the interface doesn't say of a link: its life. */
export const LinkDetailsObject = LinkObject.extend({
  status: z.enum(LINK_STATUSES).meta({
    description:
      "What a visitor meets now. `scheduled`: before `active_from`; `expired`: from `expires_at` on; `used_up`: it has had its " +
      "`max_clicks`; `disabled` by its owner; `blocked` by the operator of the service, whatever its owner does; " +
      "`domain_inactive`: its domain is not active",
  }),
  disabled: z.boolean().meta({ description: "As its owner set it" }),
  blocked: z
    .object({
      reason: z.string().meta({ examples: ["Phishing"] }),
      since: z.string().meta({ format: "date-time" }),
      legal: z.boolean().meta({ description: "The law demands it: the link answers 451" }),
    })
    .optional()
    .meta({ description: "Only while the operator blocks it" }),
  revision: z.int().meta({
    description: "How often it has been changed; in `ETag`, too, and taken by `If-Match`",
    examples: [3],
  }),
  updated_at: z.string().meta({ format: "date-time", examples: ["2026-02-01T08:30:00.000Z"] }),
}).meta({ id: "LinkDetails", description: "A short link with its state" });

export type LinkDetailsObject = z.infer<typeof LinkDetailsObject>;

/** `changedAt`: the time of its last change. */
export function linkDetailsObject(
  link: Parameters<typeof linkObject>[0] & LinkFlags & { block?: LinkBlock | null | undefined },
  { status, revision, changedAt }: { status: LinkStatus; revision: number; changedAt: string },
  baseUrl: string,
): LinkDetailsObject {
  const { disabled, block } = link;
  return {
    ...linkObject(link, baseUrl),
    status,
    disabled,
    ...(block && { blocked: block }),
    revision,
    updated_at: changedAt,
  };
}
