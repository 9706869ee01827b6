// Events of `clicks-<writer>-<yyyymmdd>`: all facts of every hit, so that later projections can be folded from them; and of
// `gaps-<writer>`: what a process could not record of the clicks that it led on.
import { z } from "zod";
import { eventType } from "./definition.ts";
import { CLICK_KINDS, CREATED_VIA, DEVICE_TYPES } from "./vocabulary.ts";

const named = z.object({ name: z.string(), version: z.string().optional() });

/** Each fact once: what is not known, or was not sent, is absent; what follows from other members, click-facts.ts says. */
export const clickEvents = {
  LinkClicked: eventType("A short link was followed, by a person or a program.", {
    link: z.string().describe("`<host>/<slug>`"),
    linkRevision: z
      .number()
      .int()
      .describe("How many changes the link had had; with `longUrl`, the destination at that moment"),
    longUrl: z.string().describe("The destination at that moment"),
    accountId: z.uuid().describe("The link's owner"),
    via: z.enum(CREATED_VIA).describe("Whether the link was created through the API, or in the portal"),
    at: z.iso.datetime().describe("When it happened"),
    kind: z.enum(CLICK_KINDS).describe("A person's click, a program's preview, or a scan of the QR code"),
    rules: z
      .string()
      .describe(
        "What chose `kind`, `device`, `browser` and `os`: the version of the rules, and of both libraries",
      ),
    rule: z
      .string()
      .optional()
      .describe(
        "The id of the link's rule that led to `longUrl`; `none` where none of them did, absent where it had none",
      ),
    method: z.enum(["GET", "HEAD", "POST"]).describe("POST: the password was typed in"),
    userAgent: z.string().optional().describe("As sent, at most 512 characters"),
    device: z.enum(DEVICE_TYPES),
    browser: named.optional().describe("Absent when not recognised"),
    os: named.optional().describe("Absent when not recognised"),
    ip: z.string().optional().describe("Anonymised before the event existed: IPv4 /24, IPv6 /48"),
    country: z.string().optional().describe("ISO 3166-1 alpha-2"),
    region: z.string().optional().describe("Name"),
    city: z.string().optional().describe("Name"),
    referrer: z
      .string()
      .optional()
      .describe(
        "URL without query or fragment, at most 512 characters; absent for none; `unknown` where an import doesn't say",
      ),
    utm: z
      .object({
        source: z.string().optional(),
        medium: z.string().optional(),
        campaign: z.string().optional(),
        term: z.string().optional(),
        content: z.string().optional(),
      })
      .optional()
      .describe("The fields that were given: by the short URL's own query, else by the long URL's"),
    language: z.string().optional().describe("Primary language tag of Accept-Language, lower case"),
    prefetch: z.string().optional().describe("Sec-Purpose, Purpose or X-Moz as sent"),
    visitor: z
      .string()
      .optional()
      .describe(
        "16 hex digits: the same for one visitor, link and UTC day, and never joined beyond it; absent where an import doesn't say",
      ),
    accountVisitor: z.string().optional().describe("The same for one visitor, account and UTC day"),
  }),
};

export const gapEvents = {
  ClicksNotRecorded: eventType(
    "Visitors were led on while clicks could not be stored, and for these hits there was no room in memory.",
    {
      at: z.iso.datetime().describe("When it was said, as soon as the log took appends again"),
      from: z.iso.datetime().describe("The first of these hits"),
      until: z.iso.datetime().describe("The last of these hits"),
      hits: z.int().min(1).describe("How many there were, of all links of the service"),
    },
  ),
};
