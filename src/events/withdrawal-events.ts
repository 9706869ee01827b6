// Events of `withdrawals-<host>/<slug>`: which clicks of one link the operator takes out of the numbers, and back in.
import { z } from "zod";
import type { CatalogueEntry } from "./definition.ts";
import { ofLink } from "./link-events.ts";

const withdrawalId = z.uuid().describe("The withdrawal");

export const withdrawalEvents = {
  ClicksWithdrawn: {
    version: 1,
    summary:
      "Clicks of a link that were recorded before this event no longer count, such as test clicks or fraud.",
    schema: z.object({
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
      clicks: z
        .number()
        .int()
        .describe("How many clicks it took out when it was decided; those taken out before not counted"),
    }),
  },
  ClicksRestored: {
    version: 1,
    summary: "A withdrawal was taken back: its clicks count again, unless another one covers them.",
    schema: z.object({ ...ofLink, withdrawalId }),
  },
} as const satisfies Record<string, CatalogueEntry>;
