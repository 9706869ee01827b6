// Events of `account-<uuid>`: the account, its tier, keys and domains. No e-mail, no key in clear (DESIGN §3).
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
  /** `keyHash`: SHA-256 of the whole key, hex. `hint`: its last four characters, for people to tell keys apart. */
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
  /** `hostname`: lower-case A-label form. `token`: the value its DNS TXT record must show. */
  DomainAdded: { version: 1, schema: z.object({ ...ofAccount, hostname: z.string(), token: z.string() }) },
  /** `domainId` is issued by verification (interface, part 2). `how`: seen in DNS, or the operator vouches. */
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
  /** `reason`: by our own check, as the record that proved the ownership has been gone for days. */
  DomainDeactivated: {
    version: 1,
    schema: z.object({ ...ofDomain, reason: z.enum(["record_lost"]).optional() }),
  },
  /** `reason`: another account has proven the hostname in DNS, where the record of this one is gone. */
  DomainRemoved: {
    version: 1,
    schema: z.object({
      ...ofAccount,
      hostname: z.string(),
      domainId: z.uuid().optional(),
      reason: z.enum(["taken_over"]).optional(),
    }),
  },
  /** The daily check no longer finds the TXT record that verification found. */
  DomainRecordLost: { version: 1, schema: z.object(ofDomain) },
  DomainRecordFound: { version: 1, schema: z.object(ofDomain) },
  /** Where the domain's `/` leads; null is a small page of ours. */
  DomainHomeSet: { version: 1, schema: z.object({ ...ofDomain, homeUrl: z.string().nullable() }) },
} as const satisfies Record<string, EventDefinition>;
