// The Link object of answers and of deliveries to webhooks (interface, part 2): its schema, and the conversion from a link.
import { z } from "zod";
import { fieldsOf, shownLinkFields } from "../../commands/links/fields/link-fields.ts";
import type { LinkDetails } from "../../commands/links/link.ts";
import type { LinkBlock, LinkFlags } from "../../events/link-events.ts";
import { LINK_STATUSES, type LinkStatus } from "../../events/links/link-status.ts";

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

/** Of a document, or as its events make it. `changedAt`: the time of its last change. */
export function linkDetailsObject(
  link: Parameters<typeof linkObject>[0] &
    LinkFlags & { block?: LinkBlock | null | undefined; changedAt: string } & (
      | { revision: number }
      | { changes: number }
    ),
  status: LinkStatus,
  baseUrl: string,
): LinkDetailsObject {
  const { disabled, block, changedAt } = link;
  return {
    ...linkObject(link, baseUrl),
    status,
    disabled,
    ...(block && { blocked: block }),
    revision: "revision" in link ? link.revision : link.changes,
    updated_at: changedAt,
  };
}
