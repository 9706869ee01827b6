// Events of `link-<host>/<slug>`: one link's whole life; the slug is its identity (DESIGN §3).
import { z } from "zod";
import type { EventDefinition } from "./definition.ts";
import { CREATED_VIA } from "./vocabulary.ts";

const ofLink = {
  /** Host the link lives on, as in its short URL (with a port where that has one), lower case. */
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
      /** The API key that made it; absent for links made in the portal. */
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
