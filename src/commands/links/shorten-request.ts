// Schema of a request for a new link, shared by the API, each item of a bulk request, and OpenAPI.
import { z } from "zod";

/** The use case checks the formats of customSlug and domain_id, because 402 comes before them. */
export const ShortenRequest = z
  .strictObject({
    url: z.string("must be a string: the HTTP/HTTPS URL to shorten").meta({
      description: "HTTP/HTTPS URL to shorten, at most 2,048 characters",
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
  })
  .meta({ id: "ShortenRequest" });

export type ShortenRequest = z.infer<typeof ShortenRequest>;
