// Events of `withdrawals-<host>/<slug>`: which clicks of one link the operator takes out of the numbers, and back in.
import { z } from "zod";
import type { CatalogueEntry } from "./definition.ts";
import { ofLink } from "./link-events.ts";

const withdrawalId = z.uuid().describe("The withdrawal");

export const withdrawalEvents = {
  ClicksWithdrawn: {
    version: 1,
    summary:
      "Clicks of a link that are in the log up to a position no longer count, such as test clicks or fraud.",
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
      upTo: z
        .string()
        .describe("Only clicks up to this position of the log, the end of it when they were counted"),
      clicks: z
        .object({ click: z.number().int(), preview: z.number().int(), qr_scan: z.number().int() })
        .describe("How many clicks of each kind it takes out; those that were out before are not counted"),
    }),
  },
  ClicksRestored: {
    version: 1,
    summary: "A withdrawal was taken back: its clicks count again, unless another one covers them.",
    schema: z.object({ ...ofLink, withdrawalId }),
  },
} as const satisfies Record<string, CatalogueEntry>;
