// Events of `account-<uuid>`: the account, its tier, keys and domains; without e-mail addresses and keys.
import { z } from "zod";
import type { CatalogueEntry } from "./definition.ts";
import { TIERS } from "./vocabulary.ts";

const ofAccount = {
  accountId: z.uuid().describe("The account"),
  at: z.iso.datetime().describe("When it happened"),
};
const hostname = z.string().describe("Lower-case A-label form");
const domainId = z.uuid().describe("The domain's id in the API, issued by its verification");
const keyId = z.uuid().describe("The API key's id, which is not the key");
const ofDomain = { ...ofAccount, hostname, domainId };

export const accountEvents = {
  AccountOpened: {
    version: 1,
    summary: "The account was opened: its first event.",
    schema: z.object({ ...ofAccount, tier: z.enum(TIERS) }),
  },
  TierChanged: {
    version: 1,
    summary: "The account moved to another tier.",
    schema: z.object({ ...ofAccount, from: z.enum(TIERS), to: z.enum(TIERS) }),
  },
  AccountClosed: {
    version: 1,
    summary: "The account was closed for good.",
    schema: z.object({ ...ofAccount }),
  },
  KeyIssued: {
    version: 1,
    summary: "An API key was issued.",
    internal: ["keyHash"],
    schema: z.object({
      ...ofAccount,
      keyId,
      /** SHA-256 of the whole key, hex. */
      keyHash: z.string().regex(/^[0-9a-f]{64}$/),
      hint: z.string().describe("The key's last four characters"),
      label: z.string().describe("As typed by the owner"),
    }),
  },
  KeyDeactivated: {
    version: 1,
    summary: "An API key was deactivated.",
    schema: z.object({ ...ofAccount, keyId }),
  },
  DomainAdded: {
    version: 1,
    summary: "A custom domain was added, not verified yet.",
    internal: ["token"],
    schema: z.object({
      ...ofAccount,
      hostname,
      /** The required value of its DNS TXT record. */
      token: z.string(),
    }),
  },
  DomainVerified: {
    version: 1,
    summary: "A custom domain was verified.",
    schema: z.object({
      ...ofAccount,
      hostname,
      domainId,
      how: z.enum(["dns", "operator"]).describe("By its TXT record, or vouched for by the operator"),
    }),
  },
  DomainActivated: {
    version: 1,
    summary: "A custom domain became active: its links redirect.",
    schema: z.object(ofDomain),
  },
  DomainDeactivated: {
    version: 1,
    summary: "A custom domain became inactive.",
    schema: z.object({
      ...ofDomain,
      reason: z
        .enum(["record_lost"])
        .optional()
        .describe("Present when the daily check did it, as its TXT record has been missing for days"),
    }),
  },
  DomainRemoved: {
    version: 1,
    summary: "A custom domain was removed.",
    schema: z.object({
      ...ofAccount,
      hostname,
      domainId: domainId.optional(),
      reason: z
        .enum(["taken_over"])
        .optional()
        .describe(
          "Present when another account verified the hostname while this one's TXT record was missing",
        ),
    }),
  },
  DomainRecordLost: {
    version: 1,
    summary: "The daily check found the TXT record of a custom domain missing.",
    schema: z.object(ofDomain),
  },
  DomainRecordFound: {
    version: 1,
    summary: "The daily check found a missing TXT record again.",
    schema: z.object(ofDomain),
  },
  DomainHomeSet: {
    version: 1,
    summary: "The home page of a custom domain was chosen.",
    schema: z.object({
      ...ofDomain,
      homeUrl: z
        .string()
        .nullable()
        .describe("Where the domain's `/` redirects to; null: the service's own page"),
    }),
  },
} as const satisfies Record<string, CatalogueEntry>;
