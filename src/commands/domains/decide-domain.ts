// Deciders of an account's custom domains, which account.ts folds, and of the claim of a hostname, which at most one account
// holds. Pure.
import type { AccountEvent, DomainEvent } from "../../events/catalogue.ts";
import { STREAM_LIMITS } from "../../events/vocabulary.ts";
import { type AccountState, type Domain, opened, type VerifiedDomain, withRoom } from "../account/account.ts";
import { requireDeveloper } from "../caller.ts";
import { Refused } from "../refusals.ts";

/** Idempotent: adding a domain again keeps its token. @throws account_not_found, tier_required, history_full */
export function add(
  account: AccountState,
  c: { hostname: string; token: string; at: string },
): AccountEvent[] {
  const { tier, domains, domainsAdded } = opened(account);
  requireDeveloper(tier, "Custom domains");
  if (domains.has(c.hostname)) return [];
  const { accountId } = withRoom(account);
  if (domainsAdded >= STREAM_LIMITS.domainsAdded)
    throw new Refused(
      "history_full",
      `This account has added ${STREAM_LIMITS.domainsAdded} domains, as many as one account can: go on with those it has, or open another account`,
    );
  return [{ type: "DomainAdded", data: { accountId, ...c } }];
}

/** How long a verified domain stays active while its TXT record is missing. */
const RECORD_MAY_BE_GONE_MS = 7 * 86_400_000;

/**
 * A verified domain becomes active immediately (interface, part 3), also one that was inactive: the daily check may have
 * found its lost record before its owner verifies it again. A hostname that the account had before keeps its id, which
 * its links and the programs of its owner name. One that the operator vouches for is checked no more.
 * @throws account_not_found, domain_not_found
 */
export function verify(
  account: AccountState,
  c: { hostname: string; domainId: string; how: "dns" | "operator"; at: string },
): AccountEvent[] {
  const { accountId, domainIds } = opened(account);
  const { hostname, how, at } = c;
  const domain = domainOf(account, hostname);
  const data = { accountId, hostname, domainId: domainIds.get(hostname) ?? c.domainId, at };
  const isLost = domain.state !== "added" && domain.recordLostAt !== null;
  const isProvenAnew = domain.state === "added" || (how === "operator" && domain.proven === "dns");
  return [
    ...(isLost ? [{ type: "DomainRecordFound", data } as const] : []),
    ...(isProvenAnew ? [{ type: "DomainVerified", data: { ...data, how } } as const] : []),
    ...(isProvenAnew || domain.state !== "active" ? [{ type: "DomainActivated", data } as const] : []),
  ];
}

/** @throws account_not_found, domain_not_found, history_full; domain_not_proven while its TXT record is missing */
export function activate(account: AccountState, c: { domainId: string; at: string }): AccountEvent[] {
  withRoom(account);
  const domain = domainWithId(account, c.domainId);
  if (domain.state === "inactive" && domain.recordLostAt !== null)
    throw new Refused(
      "domain_not_proven",
      `The TXT record of ${domain.hostname} is gone: set it again, then verify the domain`,
    );
  return move(account, c, "active", "DomainActivated");
}

/** While inactive it serves no redirects and gets no certificates. @throws account_not_found, domain_not_found */
export function deactivate(account: AccountState, c: { domainId: string; at: string }): AccountEvent[] {
  return move(account, c, "inactive", "DomainDeactivated");
}

/** Idempotent: removing an unknown domain changes nothing. @throws account_not_found */
export function remove(
  account: AccountState,
  c: { hostname: string; at: string; reason?: "taken_over" },
): AccountEvent[] {
  const { accountId, domains } = opened(account);
  const domain = domains.get(c.hostname);
  if (!domain) return [];
  const id = domain.state === "added" ? {} : { domainId: domain.domainId };
  return [{ type: "DomainRemoved", data: { accountId, ...c, ...id } }];
}

/** The result of the daily TXT check. A domain verified by the operator needs no record. @throws account_not_found */
export function noteRecord(
  account: AccountState,
  c: { domainId: string; isThere: boolean; at: string },
): AccountEvent[] {
  const { accountId } = opened(account);
  const domain = verifiedDomain(account, c.domainId);
  if (!domain || domain.proven === "operator") return [];
  const data = { accountId, hostname: domain.hostname, domainId: c.domainId, at: c.at };
  const { recordLostAt } = domain;
  if (c.isThere) return recordLostAt === null ? [] : [{ type: "DomainRecordFound", data }];
  if (recordLostAt === null) return [{ type: "DomainRecordLost", data }];
  const gone = Date.parse(c.at) - Date.parse(recordLostAt);
  if (domain.state === "inactive" || gone < RECORD_MAY_BE_GONE_MS) return [];
  return [{ type: "DomainDeactivated", data: { ...data, reason: "record_lost" } }];
}

/** `homeUrl`: null for the built-in page. @throws account_not_found, domain_not_found, history_full */
export function setHome(
  account: AccountState,
  c: { domainId: string; homeUrl: string | null; at: string },
): AccountEvent[] {
  const { accountId } = withRoom(account);
  const domain = domainWithId(account, c.domainId);
  return [{ type: "DomainHomeSet", data: { accountId, hostname: domain.hostname, ...c } }];
}

/** The account's domain with this hostname. @throws account_not_found, domain_not_found */
export function domainOf(account: AccountState, hostname: string): Domain {
  const domain = opened(account).domains.get(hostname);
  if (!domain) throw new Refused("domain_not_found");
  return domain;
}

export function verifiedDomain(account: AccountState, domainId: string): VerifiedDomain | undefined {
  if (account.status !== "open") return undefined;
  for (const domain of account.domains.values())
    if (domain.state !== "added" && domain.domainId === domainId) return domain;
  return undefined;
}

/** The hostnames that the account has verified, now or before it added them again: any other may be anybody's. */
export function verifiedHosts(account: AccountState): string[] {
  if (account.status !== "open") return [];
  const { domains, domainIds } = account;
  return [...domains.keys()].filter((hostname) => domainIds.has(hostname));
}

function domainWithId(account: AccountState, domainId: string): VerifiedDomain {
  const domain = verifiedDomain(account, domainId);
  if (!domain) throw new Refused("domain_not_found");
  return domain;
}

function move(
  account: AccountState,
  c: { domainId: string; at: string },
  to: "active" | "inactive",
  type: "DomainActivated" | "DomainDeactivated",
): AccountEvent[] {
  const { accountId } = opened(account);
  const { hostname, state } = domainWithId(account, c.domainId);
  return state === to ? [] : [{ type, data: { accountId, hostname, ...c } }];
}

export type HostnameClaim = { accountId: string; domainId: string };

export type ClaimState = { status: "unclaimed" } | ({ status: "claimed" } & HostnameClaim);

export const unclaimed: ClaimState = { status: "unclaimed" };

type OnClaim = HostnameClaim & { hostname: string; at: string };

/**
 * The account's own claim under an earlier domain id (removed, then added again) is replaced by one under the new id.
 * That changes the revision, so that a concurrent release of the earlier claim conflicts and is decided again.
 * `stale`: a claim whose account no longer has the domain, because its removal was interrupted before the release.
 * @throws domain_taken
 */
export function claim(
  state: ClaimState,
  { stale, ...claimed }: OnClaim & { stale?: HostnameClaim | undefined },
): DomainEvent[] {
  const { hostname, accountId, domainId, at } = claimed;
  const taking: DomainEvent = { type: "DomainClaimed", data: claimed };
  if (state.status === "unclaimed") return [taking];
  const { accountId: holder, domainId: heldAs } = state;
  if (holder === accountId && heldAs === domainId) return [];
  if (holder !== accountId && (holder !== stale?.accountId || heldAs !== stale.domainId))
    throw new Refused("domain_taken", `${hostname} is verified by another account`);
  return [{ type: "DomainReleased", data: { hostname, accountId: holder, domainId: heldAs, at } }, taking];
}

/** Releases exactly this claim; one of another account or another domain id stays. */
export function release(state: ClaimState, c: OnClaim): DomainEvent[] {
  const isHeld =
    state.status === "claimed" && state.accountId === c.accountId && state.domainId === c.domainId;
  return isHeld ? [{ type: "DomainReleased", data: c }] : [];
}

export function evolveClaim(_state: ClaimState, { type, data }: DomainEvent): ClaimState {
  if (type === "DomainReleased") return unclaimed;
  return { status: "claimed", accountId: data.accountId, domainId: data.domainId };
}
