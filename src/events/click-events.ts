// Events of `clicks-<writer>-<yyyymmdd>`: all facts of every hit, so that later projections can be folded from them.
import { z } from "zod";
import type { CatalogueEntry } from "./definition.ts";
import { CLICK_KINDS, CREATED_VIA, DEVICE_TYPES } from "./vocabulary.ts";

const named = z.object({ name: z.string(), version: z.string() });

export const clickEvents = {
  LinkClicked: {
    version: 1,
    summary: "A short link was followed, by a person or a program.",
    schema: z.object({
      link: z.string().describe("`<host>/<slug>`"),
      slug: z.string().describe("Path of the short URL, lower case"),
      linkRevision: z
        .number()
        .int()
        .describe("How many changes the link had had; with `longUrl`, the destination at that moment"),
      shortUrl: z.string().describe("The absolute short URL"),
      longUrl: z.string().describe("The destination at that moment"),
      accountId: z.uuid().describe("The link's owner"),
      via: z.enum(CREATED_VIA).describe("Whether the link was created through the API, or in the portal"),
      at: z.iso.datetime().describe("When it happened"),
      kind: z.enum(CLICK_KINDS).describe("A person's click, a program's preview, or a scan of the QR code"),
      rules: z
        .number()
        .int()
        .describe("Version of the rules that chose `kind`, `device`, `browser`, `os` and `referrerHost`"),
      botList: z
        .string()
        .optional()
        .describe("The list of programs that the rules used, such as `isbot@5.2.3`; absent under rules 1"),
      agentParser: z
        .string()
        .optional()
        .describe(
          "The parser of user agents that the rules used, such as `ua-parser-js@1.0.41`; absent in clicks of earlier versions",
        ),
      method: z.enum(["GET", "HEAD"]),
      userAgent: z.string().describe("As sent, at most 512 characters; empty when there was none"),
      device: z.enum(DEVICE_TYPES),
      browser: named.describe("`unknown` when not recognised; the version is empty then"),
      os: named.describe("`unknown` when not recognised; the version is empty then"),
      ip: z.string().describe("Anonymised before the event existed: IPv4 /24, IPv6 /48"),
      country: z.string().describe("ISO 3166-1 alpha-2, or `unknown`"),
      region: z.string().describe("Name, or `unknown`"),
      city: z.string().describe("Name, or `unknown`"),
      referrer: z.string().describe("URL without query or fragment, at most 512 characters; empty for none"),
      referrerHost: z.string().describe("Host without `www.`, lower case; `direct` for none"),
      utm: z
        .object({
          source: z.string().optional(),
          medium: z.string().optional(),
          campaign: z.string().optional(),
          term: z.string().optional(),
          content: z.string().optional(),
        })
        .describe("The fields that were given: by the short URL's own query, else by the long URL's"),
      language: z.string().describe("Primary language tag of Accept-Language, lower case; empty for none"),
      prefetch: z.string().describe("Sec-Purpose, Purpose or X-Moz as sent; empty for none"),
      visitor: z
        .string()
        .describe("16 hex digits: the same for one visitor, link and UTC day, and never joined beyond it"),
      /** Always written; absent in clicks of earlier programs, which can read this version too and drop unknown members. */
      accountVisitor: z
        .string()
        .optional()
        .describe("The same for one visitor, account and UTC day; absent in clicks of earlier versions"),
    }),
  },
} as const satisfies Record<string, CatalogueEntry>;
