// The Link object of HTTP answers (interface, part 2): its schema, and the conversion from a link. And the request for a new
// one, which the API, each item of a bulk request and OpenAPI share.
import { z } from "zod";
import type { LinkDetails } from "./link.ts";
import { fieldsOf, linkFields, shownLinkFields } from "./link-fields.ts";

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
  link: Omit<LinkDetails, "keyId" | "domainId"> & { domainId?: string | null | undefined },
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
        examples: ["3f0d5f2e-6f1c-4b52-9c1b-0f6f7a1f4f11"],
      }),
    ...linkFields,
  })
  .meta({ id: "ShortenRequest" });

export type ShortenRequest = z.infer<typeof ShortenRequest>;
