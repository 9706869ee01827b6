// Decides what may happen to the domains of one account; the fold is account.ts's, as the stream is the account's.
import type { AccountEvent } from "../events/catalogue.ts";
import { TIER_LIMITS } from "../events/vocabulary.ts";
import { type AccountState, type OwnDomain, opened } from "./account.ts";
import { DomainNotFound, DomainNotVerified, TierRequired } from "./errors.ts";

/** Adding a domain again changes nothing: its token stays as it was shown. */
export function add(
  account: AccountState,
  c: { hostname: string; token: string; at: string },
): AccountEvent[] {
  const { accountId, tier, domains } = opened(account);
  if (!TIER_LIMITS[tier].developerFeatures) throw new TierRequired("Custom domains");
  if (domains.has(c.hostname)) return [];
  return [{ type: "DomainAdded", data: { accountId, ...c } }];
}

export type Verification = { hostname: string; domainId: string; how: "dns" | "operator"; at: string };

/** A verified domain is active at once (interface, part 3 knows no step between). */
export function verify(account: AccountState, c: Verification): AccountEvent[] {
  const { accountId } = opened(account);
  if (ownDomain(account, c.hostname).state !== "added") return [];
  const { hostname, domainId, how, at } = c;
  return [
    { type: "DomainVerified", data: { accountId, hostname, domainId, how, at } },
    { type: "DomainActivated", data: { accountId, hostname, domainId, at } },
  ];
}

export function activate(account: AccountState, c: { domainId: string; at: string }): AccountEvent[] {
  return move(account, c, "active", "DomainActivated");
}

/** Its links go on redirecting; only new ones are refused. */
export function deactivate(account: AccountState, c: { domainId: string; at: string }): AccountEvent[] {
  return move(account, c, "inactive", "DomainDeactivated");
}

/** Removing a domain that isn't there (any more) changes nothing, so that a removal can be repeated. */
export function remove(account: AccountState, c: { hostname: string; at: string }): AccountEvent[] {
  const { accountId, domains } = opened(account);
  const domain = domains.get(c.hostname);
  if (!domain) return [];
  const id = domain.state === "added" ? {} : { domainId: domain.domainId };
  return [{ type: "DomainRemoved", data: { accountId, hostname: c.hostname, ...id, at: c.at } }];
}

/** @throws DomainNotFound */
export function ownDomain(account: AccountState, hostname: string): OwnDomain {
  const domain = opened(account).domains.get(hostname);
  if (!domain) throw new DomainNotFound();
  return domain;
}

/** The verified domain with this id; undefined when there is none. */
export function verifiedDomain(
  account: AccountState,
  domainId: string,
): Exclude<OwnDomain, { state: "added" }> | undefined {
  if (account.status !== "open") return undefined;
  for (const domain of account.domains.values())
    if (domain.state !== "added" && domain.domainId === domainId) return domain;
  return undefined;
}

function move(
  account: AccountState,
  c: { domainId: string; at: string },
  to: "active" | "inactive",
  type: "DomainActivated" | "DomainDeactivated",
): AccountEvent[] {
  const { accountId } = opened(account);
  const domain = verifiedDomain(account, c.domainId);
  if (!domain) throw new DomainNotFound();
  if (domain.state === to) return [];
  return [{ type, data: { accountId, hostname: domain.hostname, domainId: c.domainId, at: c.at } }];
}

/** @throws DomainNotVerified for a domain that has no id yet */
export function domainIdOf(domain: OwnDomain): string {
  if (domain.state === "added") throw new DomainNotVerified();
  return domain.domainId;
}
