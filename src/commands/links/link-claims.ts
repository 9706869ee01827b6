// What one link of an account alone may have: an external id, and with find_existing a destination with its
// options. Of requests that want it at the same time the first claims it in the secrets; documents tell of links
// made before.

import { fingerprintOf } from "../../events/link-options.ts";
import { isRefused, Refused } from "../../runtime/refused.ts";
import { RevisionConflict } from "../../stores/event-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { CommandDeps } from "../handle-command.ts";
import type { ExistingLink } from "./link.ts";
import { currentLink, type LinkAddress } from "./link-stream.ts";

/** Links of an account by the documents, which then hold every link that was made or changed before the call. */
export type LinkLookups = {
  /** Those that are not deleted. */
  withExternalId(accountId: string, externalId: string): Promise<LinkAddress[]>;
  /** Those that are live (fingerprintOf). */
  withFingerprint(fingerprint: string): Promise<LinkAddress[]>;
};

export type ClaimDeps = Pick<CommandDeps, "eventStore" | "clock" | "sleep" | "newId"> & {
  secrets: Secrets;
  linkLookups: LinkLookups;
};

/** A request for one link. `token`: tells requests apart; the same for a request that is repeated. */
export type Claimant = LinkAddress & { accountId: string; token: string };

/** As stored. `isAppended`: whether the log holds what it was claimed for. */
type Held = LinkAddress & { token: string; isAppended: boolean };

type Claim = {
  key: string;
  holds: (link: ExistingLink) => boolean;
  lookUp: () => Promise<LinkAddress[]>;
};

/** Longer than documents take to show a link, and than a request takes. */
const CLAIM_MS = 60_000;
const POLL_MS = 20;
/** For two seconds. */
const POLLS = 100;

/**
 * Appends, while no other link gets the external id. Deleted links give theirs up.
 * @throws external_id_taken, link_claimed; what `append` throws
 */
export async function withExternalId<T>(
  deps: ClaimDeps,
  by: Claimant,
  externalId: string,
  append: () => Promise<T>,
): Promise<T> {
  const { accountId } = by;
  const result = await claimed(deps, by, append, {
    key: `link-claim/external-id/${accountId}/${externalId}`,
    holds: (link) => !link.deleted && link.accountId === accountId && link.externalId === externalId,
    lookUp: () => deps.linkLookups.withExternalId(accountId, externalId),
  });
  if ("appended" in result) return result.appended;
  // Another request gave it to the same link.
  if (isAt(result.holder, by)) return await append();
  throw new Refused(
    "external_id_taken",
    `external_id: ${JSON.stringify(externalId)} is that of ${result.holder.shortUrl}`,
  );
}

/** Appends, unless there is such a link already. @throws link_claimed; what `append` throws */
export async function unlessExisting<T>(
  deps: ClaimDeps,
  by: Claimant,
  fingerprint: string,
  append: () => Promise<T>,
): Promise<{ holder: ExistingLink } | { appended: T }> {
  return await claimed(deps, by, append, {
    key: `link-claim/fingerprint/${fingerprint}`,
    holds: (link) => isSame(link, fingerprint),
    lookUp: () => deps.linkLookups.withFingerprint(fingerprint),
  });
}

/** Whether it is what find_existing looks for. */
export function isSame(link: ExistingLink, fingerprint: string): boolean {
  return link.status === "live" && !link.block && fingerprintOf(link) === fingerprint;
}

/** Of an error of an append: after others the events may be in the log all the same. */
export function isNotAppended(error: unknown): boolean {
  return isRefused(error) || error instanceof RevisionConflict;
}

/** `holder`: another link that has it, by its stream. */
async function claimed<T>(
  deps: ClaimDeps,
  by: Claimant,
  append: () => Promise<T>,
  claim: Claim,
): Promise<{ holder: ExistingLink } | { appended: T }> {
  const holder = await acquire(deps, by, claim);
  if (holder) return { holder };
  try {
    for (const address of await claim.lookUp()) {
      const link = await currentLink(deps.eventStore, address.host, address.slug);
      if (isAt(address, by) || link.status === "free" || !claim.holds(link)) continue;
      await release(deps, by, claim);
      return { holder: link };
    }
    const appended = await append();
    // Without it the claim ends later, no more.
    await deps.secrets.putIfPresent(claim.key, recordOf(deps, by, true), deps.clock()).catch(() => undefined);
    return { appended };
  } catch (error) {
    if (isNotAppended(error)) await release(deps, by, claim);
    throw error;
  }
}

/** Undefined once the claim is that of `by`. @throws link_claimed when another request takes too long */
async function acquire(deps: ClaimDeps, by: Claimant, claim: Claim): Promise<ExistingLink | undefined> {
  const { secrets, eventStore, clock, sleep } = deps;
  for (let n = 0; n < POLLS; n++) {
    const held = (await secrets.putIfAbsent(claim.key, recordOf(deps, by, false), clock())) as Held;
    if (held.token === by.token) return undefined;
    const link = await currentLink(eventStore, held.host, held.slug);
    if (link.status !== "free" && claim.holds(link)) return link;
    if (held.isAppended && (await isFirstToRelease(deps, held, claim))) await release(deps, held, claim);
    else await sleep(POLL_MS);
  }
  throw new Refused("link_claimed");
}

/** One request alone releases what another holds: a second one would take the claim of whoever came after it. */
async function isFirstToRelease(deps: ClaimDeps, { token }: Held, { key }: Claim): Promise<boolean> {
  const { secrets, clock, newId } = deps;
  const value = newId();
  const record = { value, expiresAt: inAMinute(clock()) };
  return (await secrets.putIfAbsent(`link-claim/released/${token}/${key}`, record, clock())) === value;
}

/** Another one that took its place is put back. */
async function release({ secrets, clock }: ClaimDeps, { token }: { token: string }, { key }: Claim) {
  const taken = (await secrets.take(key, clock())) as Held | undefined;
  if (taken && taken.token !== token)
    await secrets.putIfAbsent(key, { value: taken, expiresAt: inAMinute(clock()) }, clock());
}

function recordOf({ clock }: ClaimDeps, { host, slug, token }: Claimant, isAppended: boolean) {
  return {
    value: { host, slug, token, isAppended } satisfies Held,
    expiresAt: inAMinute(clock()),
  };
}

function inAMinute(now: Date): string {
  return new Date(now.getTime() + CLAIM_MS).toISOString();
}

function isAt(link: LinkAddress, { host, slug }: LinkAddress): boolean {
  return link.host === host && link.slug === slug;
}
