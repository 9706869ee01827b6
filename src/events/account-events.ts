// Events of `account-<uuid>`: the account, its tier, keys and domains; without e-mail addresses and keys (DESIGN §3).
import { z } from "zod";
import type { EventDefinition } from "./definition.ts";
import { TIERS } from "./vocabulary.ts";

const at = z.iso.datetime();
const accountId = z.uuid();
const ofAccount = { accountId, at };
const ofDomain = { ...ofAccount, hostname: z.string(), domainId: z.uuid() };

export const accountEvents = {
  AccountOpened: { version: 1, schema: z.object({ ...ofAccount, tier: z.enum(TIERS) }) },
  TierChanged: { version: 1, schema: z.object({ ...ofAccount, from: z.enum(TIERS), to: z.enum(TIERS) }) },
  AccountClosed: { version: 1, schema: z.object({ ...ofAccount }) },
  /** `keyHash`: SHA-256 of the whole key, hex. `hint`: its last four characters, shown in lists of keys. */
  KeyIssued: {
    version: 1,
    schema: z.object({
      ...ofAccount,
      keyId: z.uuid(),
      keyHash: z.string().regex(/^[0-9a-f]{64}$/),
      hint: z.string(),
      label: z.string(),
    }),
  },
  KeyDeactivated: { version: 1, schema: z.object({ ...ofAccount, keyId: z.uuid() }) },
  /** `hostname`: lower-case A-label form. `token`: the required value of its DNS TXT record. */
  DomainAdded: { version: 1, schema: z.object({ ...ofAccount, hostname: z.string(), token: z.string() }) },
  /** `domainId` is issued by verification (interface, part 2). `how`: by the TXT record, or by the operator's `--skip-dns`. */
  DomainVerified: {
    version: 1,
    schema: z.object({
      ...ofAccount,
      hostname: z.string(),
      domainId: z.uuid(),
      how: z.enum(["dns", "operator"]),
    }),
  },
  DomainActivated: {
    version: 1,
    schema: z.object(ofDomain),
  },
  /** `reason`: set when the daily check deactivated it, as its TXT record has been missing for days. */
  DomainDeactivated: {
    version: 1,
    schema: z.object({ ...ofDomain, reason: z.enum(["record_lost"]).optional() }),
  },
  /** `reason`: set when another account has verified the hostname while the TXT record of this one was missing. */
  DomainRemoved: {
    version: 1,
    schema: z.object({
      ...ofAccount,
      hostname: z.string(),
      domainId: z.uuid().optional(),
      reason: z.enum(["taken_over"]).optional(),
    }),
  },
  /** The daily check found the TXT record missing. */
  DomainRecordLost: { version: 1, schema: z.object(ofDomain) },
  DomainRecordFound: { version: 1, schema: z.object(ofDomain) },
  /** `homeUrl`: where the domain's `/` redirects to; null for the service's own page. */
  DomainHomeSet: { version: 1, schema: z.object({ ...ofDomain, homeUrl: z.string().nullable() }) },
} as const satisfies Record<string, EventDefinition>;
