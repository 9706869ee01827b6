// Events of `link-<host>/<slug>`, the stream of one link, whose identity is the slug, and of `withdrawals-<host>/<slug>`.
import { z } from "zod";
import { eventType } from "./definition.ts";
import { changesOfOptions, optionsOfLink } from "./link-options.ts";
import { CREATED_VIA } from "./vocabulary.ts";

/** Members of every event of one link. */
export const ofLink = {
  host: z.string().describe("Host of the short URL without its port, lower case"),
  slug: z.string().describe("Path of the short URL, lower case"),
  accountId: z.uuid().describe("The link's owner"),
  at: z.iso.datetime().describe("When it happened"),
};

export const linkEvents = {
  LinkCreated: eventType(
    "A link was created.",
    {
      ...ofLink,
      longUrl: z.string().describe("The destination"),
      shortUrl: z.string().describe("The absolute short URL"),
      via: z.enum(CREATED_VIA).describe("Through the API, or in the portal"),
      custom: z.boolean().describe("Whether the slug was chosen by the owner"),
      keyId: z.uuid().optional().describe("The API key that created it; absent for links of the portal"),
      domainId: z.uuid().optional().describe("Present on a custom domain only"),
      ...optionsOfLink,
    },
    { webhook: "link.created" },
  ),
  LinkRetargeted: eventType(
    "A link got another destination.",
    {
      ...ofLink,
      from: z.string().describe("The destination before"),
      to: z.string().describe("The destination from now on"),
    },
    { webhook: "link.updated" },
  ),
  LinkOptionsChanged: eventType(
    "What a link carries besides its destination was changed.",
    {
      ...ofLink,
      changes: z
        .object(changesOfOptions)
        .describe("The new value of each option that changed, null for one that was taken away"),
    },
    { webhook: "link.updated" },
  ),
  LinkDisabled: eventType("A link was disabled: it answers 404 until it is enabled.", ofLink, {
    sentence: "disabled this link",
    webhook: "link.updated",
  }),
  LinkEnabled: eventType("A disabled link was enabled again.", ofLink, {
    sentence: "enabled this link again",
    webhook: "link.updated",
  }),
  LinkBlocked: eventType(
    "The operator stopped a link: it answers 404, or 451 for a legal reason, whatever its owner does.",
    {
      ...ofLink,
      reason: z.string().describe("Why, as its owner is told"),
      legal: z.literal(true).optional().describe("Present where the law demands it: the answer is 451"),
    },
    { webhook: "link.updated" },
  ),
  LinkUnblocked: eventType(
    "The operator no longer stops a link: it is again what its owner made of it.",
    ofLink,
    { sentence: "unblocked this link", webhook: "link.updated" },
  ),
  LinkDeleted: eventType("A link was deleted; its slug stays taken.", ofLink, {
    sentence: "deleted this link",
    webhook: "link.deleted",
  }),
  LinkRestored: eventType("A deleted link was restored, disabled if it was disabled before.", ofLink, {
    sentence: "restored this link",
    webhook: "link.updated",
  }),
  LinkExpired: eventType(
    "The service noted that a link is past its end; once for each end.",
    {
      ...ofLink,
      expiresAt: z.iso.datetime().describe("The end"),
    },
    { sentence: "noted that this link has expired", webhook: "link.expired" },
  ),
  LinkReopened: eventType(
    "The service noted that a link which it had noted as expired is before its end again, as clocks go back.",
    { ...ofLink, expiresAt: z.iso.datetime().describe("The end") },
    { sentence: "noted that this link has not expired after all", webhook: "link.updated" },
  ),
  LinkLimitReached: eventType(
    "The service noted that a link's clicks are used up; once for each limit.",
    {
      ...ofLink,
      maxClicks: z.number().int().describe("The limit"),
    },
    { sentence: "noted that the clicks of this link are used up", webhook: "link.limit_reached" },
  ),
};

const withdrawalId = z.uuid().describe("The withdrawal");

/** Which clicks of the link the operator takes out of the numbers, and back in. */
export const withdrawalEvents = {
  ClicksWithdrawn: eventType(
    "Clicks of a link that are in the log up to a position no longer count, such as test clicks or fraud.",
    {
      ...ofLink,
      withdrawalId,
      from: z.iso.datetime().describe("Clicks that happened at or after this time"),
      to: z.iso.datetime().describe("Clicks that happened before this time"),
      visitor: z.string().optional().describe("Only clicks with this visitor code"),
      ipPrefix: z
        .string()
        .optional()
        .describe("Only clicks from this network, such as `203.0.113.0/24`; IPv4 /24, IPv6 /48 at most"),
      userAgent: z.string().optional().describe("Only clicks whose user agent contains this, in any case"),
      reason: z.string().describe("As typed by the operator"),
      upTo: z
        .string()
        .describe("Only clicks up to this position of the log, the end of it when they were counted"),
      clicks: z
        .object({ click: z.number().int(), preview: z.number().int(), qr_scan: z.number().int() })
        .describe("How many clicks of each kind it takes out; those that were out before are not counted"),
    },
  ),
  ClicksRestored: eventType(
    "A withdrawal was taken back: its clicks count again, unless another one covers them.",
    { ...ofLink, withdrawalId },
    { sentence: "let withdrawn hits count again" },
  ),
};

/** The ends that were noted last; a link that has another one by now has not come to it yet. */
export type NotedEnds = { expiresAt?: string; maxClicks?: number };

type EndEvent =
  | { type: "LinkExpired"; data: { expiresAt: string } }
  | { type: "LinkReopened" }
  | { type: "LinkLimitReached"; data: { maxClicks: number } };

/** Why and since when the operator stops a link. */
export type LinkBlock = { reason: string; since: string; legal: boolean };

export function blockOf(data: z.infer<typeof linkEvents.LinkBlocked.schema>): LinkBlock {
  return { reason: data.reason, since: data.at, legal: data.legal === true };
}

/** As its owner has left it. */
export type OwnStatus = "live" | "disabled" | "deleted";

/** Apart, so that a disabled link that is deleted and restored is disabled. */
export type LinkFlags = { disabled: boolean; deleted: boolean };

/** Of a new link. */
export const noFlags: LinkFlags & { status: OwnStatus } = {
  disabled: false,
  deleted: false,
  status: "live",
};

export function notedAfter(before: NotedEnds | undefined, event: EndEvent): NotedEnds {
  const { expiresAt: _, ...others } = before ?? {};
  if (event.type === "LinkReopened") return others;
  return event.type === "LinkExpired"
    ? { ...others, expiresAt: event.data.expiresAt }
    : { ...before, maxClicks: event.data.maxClicks };
}
