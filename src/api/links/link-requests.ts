// Requests for a new link and for changes of one, as the API, each item of a bulk request and OpenAPI have them.
import { z } from "zod";
import { linkFields } from "../../commands/links/fields/link-fields.ts";

/** Longer than any slug and any id. */
const MOST_NAME = 100;

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

export const BulkPatchItem = z
  .strictObject({ ...NamedLink.shape, ...PatchRequest.shape })
  .meta({ id: "BulkPatchItem" });
