// Events of `link-<host>/<slug>`, the stream of one link, whose identity is the slug.
import { z } from "zod";
import type { CatalogueEntry } from "./definition.ts";
import { CREATED_VIA } from "./vocabulary.ts";

/** Members of every event of one link. */
export const ofLink = {
  host: z.string().describe("Host of the short URL without its port, lower case"),
  slug: z.string().describe("Path of the short URL, lower case"),
  accountId: z.uuid().describe("The link's owner"),
  at: z.iso.datetime().describe("When it happened"),
};

export const linkEvents = {
  LinkCreated: {
    version: 1,
    summary: "A link was created.",
    schema: z.object({
      ...ofLink,
      longUrl: z.string().describe("The destination"),
      shortUrl: z.string().describe("The absolute short URL"),
      via: z.enum(CREATED_VIA).describe("Through the API, or in the portal"),
      custom: z.boolean().describe("Whether the slug was chosen by the owner"),
      keyId: z.uuid().optional().describe("The API key that created it; absent for links of the portal"),
      domainId: z.uuid().optional().describe("Present on a custom domain only"),
    }),
  },
  LinkRetargeted: {
    version: 1,
    summary: "A link got another destination.",
    schema: z.object({
      ...ofLink,
      from: z.string().describe("The destination before"),
      to: z.string().describe("The destination from now on"),
    }),
  },
  LinkDisabled: {
    version: 1,
    summary: "A link was disabled: it answers 404 until it is enabled.",
    schema: z.object({ ...ofLink }),
  },
  LinkEnabled: {
    version: 1,
    summary: "A disabled link was enabled again.",
    schema: z.object({ ...ofLink }),
  },
  LinkBlocked: {
    version: 1,
    summary:
      "The operator stopped a link: it answers 404, or 451 for a legal reason, whatever its owner does.",
    schema: z.object({
      ...ofLink,
      reason: z.string().describe("Why, as its owner is told"),
      legal: z.literal(true).optional().describe("Present where the law demands it: the answer is 451"),
    }),
  },
  LinkUnblocked: {
    version: 1,
    summary: "The operator no longer stops a link: it is again what its owner made of it.",
    schema: z.object({ ...ofLink }),
  },
  LinkDeleted: {
    version: 1,
    summary: "A link was deleted; its slug stays taken.",
    schema: z.object({ ...ofLink }),
  },
  LinkRestored: {
    version: 1,
    summary: "A deleted link was restored, disabled if it was disabled before.",
    schema: z.object({ ...ofLink }),
  },
} as const satisfies Record<string, CatalogueEntry>;

/** Why and since when the operator stops a link. */
export type LinkBlock = { reason: string; since: string; legal: boolean };

export function blockOf(data: z.infer<typeof linkEvents.LinkBlocked.schema>): LinkBlock {
  return { reason: data.reason, since: data.at, legal: data.legal === true };
}

export const LINK_STATUSES = ["live", "disabled", "deleted"] as const;
export type LinkStatus = (typeof LINK_STATUSES)[number];

/** Apart, so that a disabled link that is deleted and restored is disabled. */
export type LinkFlags = { disabled: boolean; deleted: boolean };

/** Of a new link. */
export const noFlags: LinkFlags & { status: LinkStatus } = {
  disabled: false,
  deleted: false,
  status: "live",
};

/** The link with these flags set or cleared, and with the status that all of them come to. */
export function withFlags<L extends LinkFlags & { status: LinkStatus }>(
  link: L,
  flags: Partial<LinkFlags>,
): L {
  const { disabled, deleted } = { ...link, ...flags };
  return { ...link, disabled, deleted, status: deleted ? "deleted" : disabled ? "disabled" : "live" };
}
