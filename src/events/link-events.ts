// Events of `link-<host>/<slug>`, the stream of one link, whose identity is the slug (DESIGN §3).
import { z } from "zod";
import type { EventDefinition } from "./definition.ts";
import { CREATED_VIA } from "./vocabulary.ts";

const ofLink = {
  /** Host of the short URL, with its port if it has one, lower case. */
  host: z.string(),
  slug: z.string(),
  accountId: z.uuid(),
  at: z.iso.datetime(),
};

export const linkEvents = {
  LinkCreated: {
    version: 1,
    schema: z.object({
      ...ofLink,
      longUrl: z.string(),
      shortUrl: z.string(),
      via: z.enum(CREATED_VIA),
      custom: z.boolean(),
      /** The API key that created it; absent for links that were created in the portal. */
      keyId: z.uuid().optional(),
      /** Present on a custom domain only. */
      domainId: z.uuid().optional(),
    }),
  },
  LinkRetargeted: { version: 1, schema: z.object({ ...ofLink, from: z.string(), to: z.string() }) },
  LinkDisabled: { version: 1, schema: z.object({ ...ofLink }) },
  LinkEnabled: { version: 1, schema: z.object({ ...ofLink }) },
  LinkDeleted: { version: 1, schema: z.object({ ...ofLink }) },
  LinkRestored: { version: 1, schema: z.object({ ...ofLink }) },
} as const satisfies Record<string, EventDefinition>;
