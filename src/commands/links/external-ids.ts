// An external id is that of one link of an account. A record in the secrets, kept for good, names the link that got it last;
// the stream of that link says whether it has it still.

import { hash } from "node:crypto";
import { CLOCK_SKEW_MS } from "../../runtime/moment.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import { type CommandDeps, isNotAppended } from "../handle-command.ts";
import { Refused } from "../refusals.ts";
import type { ExistingLink } from "./link.ts";
import { currentLink, type LinkAddress } from "./link-stream.ts";

export type ExternalIdDeps = Pick<CommandDeps, "eventStore" | "clock"> & { secrets: Secrets };

/** `token`: tells requests apart; the same for a request that is repeated. `isNew`: the link is made by its append. */
type Claimant = LinkAddress & { accountId: string; token: string; isNew: boolean };

/** As stored. `until`: ISO 8601; before it the append that gives the link the id may be in flight. Empty: it has ended. */
type ClaimRecord = LinkAddress & { token: string; until: string };

/** Longer than a request takes, by any process's clock. After a crash in between, the id is free again then. */
const CLAIM_MS = 60_000 + CLOCK_SKEW_MS;

/**
 * Appends, while no other link gets the external id; without one at once. Deleted links give theirs up.
 * @throws external_id_taken; link_claimed while another request may be giving it to a link; what `append` throws
 */
export async function withExternalId<T>(
  deps: ExternalIdDeps,
  by: Claimant,
  externalId: string | undefined,
  append: () => Promise<T>,
): Promise<T> {
  if (externalId === undefined) return await append();
  const record = await claim(deps, by, externalId);
  let isSettled = true;
  try {
    return await append();
  } catch (error) {
    isSettled = isNotAppended(error);
    throw error;
  } finally {
    if (isSettled) await endClaim(deps, keyOf(by.accountId, externalId), record);
  }
}

/** The link that has the external id. */
export async function linkWithExternalId(
  { secrets, eventStore, clock }: ExternalIdDeps,
  accountId: string,
  externalId: string,
): Promise<ExistingLink | undefined> {
  const record = (await secrets.get(keyOf(accountId, externalId), clock())) as ClaimRecord | undefined;
  return record && (await holderBy(eventStore, record, externalId));
}

/** Returns the record by which the claimant's link gets the id. */
async function claim(deps: ExternalIdDeps, by: Claimant, externalId: string): Promise<ClaimRecord> {
  const { secrets, eventStore, clock } = deps;
  const { host, slug, accountId, token } = by;
  const key = keyOf(accountId, externalId);
  const now = clock();
  const wanted: ClaimRecord = { host, slug, token, until: new Date(now.getTime() + CLAIM_MS).toISOString() };
  const stored = (await secrets.putIfAbsent(key, { value: wanted }, now)) as ClaimRecord;
  const isInFlight = now.toISOString() < stored.until;
  if (stored.token === token && isInFlight) return stored;
  const isSameLink = stored.host === host && stored.slug === slug;
  // The stream is read behind the time, so that what was appended before the claim ended is seen.
  const holder = await holderBy(eventStore, stored, externalId);
  if (holder && !isSameLink)
    throw new Refused(
      "external_id_taken",
      `external_id: ${JSON.stringify(externalId)} is that of ${holder.shortUrl}`,
    );
  // With find_existing several requests make the same link, of which one append succeeds.
  if (isInFlight && isSameLink && by.isNew) return stored;
  if (isInFlight) throw new Refused("link_claimed");
  const isClaimed = await secrets.putIfPresent(key, { value: wanted }, now, stored);
  // Another request has claimed it in between: what holds for that one is looked at.
  return isClaimed ? wanted : await claim(deps, by, externalId);
}

/** Whether the id was given is in the log from now on. A record that can't be changed ends by its time. */
async function endClaim({ secrets, clock }: ExternalIdDeps, key: string, record: ClaimRecord): Promise<void> {
  const value: ClaimRecord = { ...record, until: "" };
  await secrets.putIfPresent(key, { value }, clock(), record).catch(() => undefined);
}

async function holderBy(
  eventStore: CommandDeps["eventStore"],
  { host, slug }: ClaimRecord,
  externalId: string,
): Promise<ExistingLink | undefined> {
  const link = await currentLink(eventStore, host, slug);
  return link.status !== "free" && !link.deleted && link.externalId === externalId ? link : undefined;
}

function keyOf(accountId: string, externalId: string): string {
  return `external-id/${accountId}/${hash("sha256", externalId)}`;
}
