// An external id is that of one link of an account. A record in the secrets, kept for good, names the link that got it last;
// the stream of that link says whether it has it still.

import { hash } from "node:crypto";
import { CLOCK_SKEW_MS } from "../../runtime/moment.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { CommandDeps } from "../handle-command.ts";
import { Refused } from "../refusals.ts";
import { type ExistingLink, existing, externalIdOf } from "./link.ts";
import { currentLink, type LinkAddress } from "./link-stream.ts";

export type ExternalIdDeps = Pick<CommandDeps, "eventStore" | "clock"> & { secrets: Secrets };

/** `token`: tells requests apart; the same for a request that is repeated. `isNew`: the link is made by its append. */
export type Claimant = LinkAddress & { accountId: string; token: string; isNew: boolean };

/** As stored under `key`. `until`: ISO 8601; before it the append that gives the link the id may be in flight. Empty: it has ended. */
type ClaimRecord = LinkAddress & { token: string; until: string };
type Claim = { key: string; record: ClaimRecord };

/** Longer than a request takes, by any process's clock. After a crash in between, the id is free again then. */
const CLAIM_MS = 60_000 + CLOCK_SKEW_MS;

/** The link that has the external id. */
export async function linkWithExternalId(
  { secrets, eventStore, clock }: ExternalIdDeps,
  accountId: string,
  externalId: string,
): Promise<ExistingLink | undefined> {
  const record = (await secrets.get(keyOf(accountId, externalId), clock())) as ClaimRecord | undefined;
  return record && (await holderBy(eventStore, record, externalId));
}

/**
 * Before the append that gives the link the id, which no other link gets until the claim ends. Deleted links give theirs up.
 * @throws external_id_taken; link_claimed while another request may be giving it to a link
 */
export async function claimExternalId(
  deps: ExternalIdDeps,
  by: Claimant,
  externalId: string,
): Promise<Claim> {
  const { secrets, eventStore, clock } = deps;
  const { host, slug, accountId, token } = by;
  const key = keyOf(accountId, externalId);
  const now = clock();
  const wanted: ClaimRecord = { host, slug, token, until: new Date(now.getTime() + CLAIM_MS).toISOString() };
  const stored = (await secrets.putIfAbsent(key, { value: wanted }, now)) as ClaimRecord;
  const isInFlight = now.toISOString() < stored.until;
  if (stored.token === token && isInFlight) return { key, record: stored };
  const isSameLink = stored.host === host && stored.slug === slug;
  // The stream is read behind the time, so that what was appended before the claim ended is seen.
  const holder = await holderBy(eventStore, stored, externalId);
  if (holder && !isSameLink)
    throw new Refused(
      "external_id_taken",
      `external_id: ${JSON.stringify(externalId)} is that of ${holder.shortUrl}`,
    );
  // With find_existing several requests make the same link, of which one append succeeds.
  if (isInFlight && isSameLink && by.isNew) return { key, record: stored };
  if (isInFlight) throw new Refused("link_claimed");
  const isClaimed = await secrets.putIfPresent(key, { value: wanted }, now, stored);
  // Another request has claimed it in between: what holds for that one is looked at.
  return isClaimed ? { key, record: wanted } : await claimExternalId(deps, by, externalId);
}

/** Whether the id was given is in the log from now on. A record that can't be changed ends by its time. */
export async function endClaim({ secrets, clock }: ExternalIdDeps, { key, record }: Claim): Promise<void> {
  const value: ClaimRecord = { ...record, until: "" };
  await secrets.putIfPresent(key, { value }, clock(), record).catch(() => undefined);
}

async function holderBy(
  eventStore: CommandDeps["eventStore"],
  { host, slug }: ClaimRecord,
  externalId: string,
): Promise<ExistingLink | undefined> {
  const link = await currentLink(eventStore, { host, slug });
  return externalIdOf(link) === externalId ? existing(link) : undefined;
}

function keyOf(accountId: string, externalId: string): string {
  return `external-id/${accountId}/${hash("sha256", externalId)}`;
}
