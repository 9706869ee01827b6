// Events of `clicks-<writer>-<yyyymmdd>`: all facts of every hit, so that later projections can be folded from them.
import { z } from "zod";
import type { EventDefinition } from "./definition.ts";
import { CLICK_KINDS, CREATED_VIA, DEVICE_TYPES } from "./vocabulary.ts";

const named = z.object({ name: z.string(), version: z.string() });

export const clickEvents = {
  LinkClicked: {
    version: 1,
    schema: z.object({
      /** `<host>/<slug>`, as in the link's stream name. */
      link: z.string(),
      slug: z.string(),
      /** The revision of the link's stream; with `longUrl`, the destination at that moment. */
      linkRevision: z.number().int(),
      shortUrl: z.string(),
      longUrl: z.string(),
      accountId: z.uuid(),
      via: z.enum(CREATED_VIA),
      at: z.iso.datetime(),
      kind: z.enum(CLICK_KINDS),
      /** Version of the rules that chose `kind` (redirect/clicks/enrich/classify.ts). */
      rules: z.number().int(),
      /** Version of the list of programs that the rules used, such as `isbot@5.2.3`; absent in clicks under rules 1. */
      botList: z.string().optional(),
      method: z.enum(["GET", "HEAD"]),
      /** As sent, at most 512 characters; empty when there was none. */
      userAgent: z.string(),
      device: z.enum(DEVICE_TYPES),
      /** `unknown` when not recognised; versions are empty then. */
      browser: named,
      os: named,
      /** Anonymised before the event exists: IPv4 /24, IPv6 /48. */
      ip: z.string(),
      /** ISO 3166-1 alpha-2, or `unknown`. */
      country: z.string(),
      region: z.string(),
      city: z.string(),
      /** URL without query or fragment, at most 512 characters; empty for none. */
      referrer: z.string(),
      /** Host without `www.`, lower case; `direct` for none. */
      referrerHost: z.string(),
      /** The given fields: from the short URL's own query, else from the long URL's. */
      utm: z.object({
        source: z.string().optional(),
        medium: z.string().optional(),
        campaign: z.string().optional(),
        term: z.string().optional(),
        content: z.string().optional(),
      }),
      /** Primary language tag of Accept-Language, lower case; empty for none. */
      language: z.string(),
      /** Sec-Purpose, Purpose or X-Moz as sent; empty for none. */
      prefetch: z.string(),
      /** Hash of address, user agent and link with a salt that is deleted after its day: 16 hex characters. */
      visitor: z.string(),
      /**
       * The same with the account instead of the link, to count unique visitors of an account, a tag or a domain. Always
       * written; absent in clicks of earlier programs, which can read this version too and drop unknown members.
       */
      accountVisitor: z.string().optional(),
    }),
  },
} as const satisfies Record<string, EventDefinition>;
