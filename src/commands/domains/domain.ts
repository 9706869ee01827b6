// Decides what may happen to the domains of one account; the fold is account.ts's, as the stream is the account's.
import type { AccountEvent } from "../../events/catalogue.ts";
import { STREAM_LIMITS, TIER_LIMITS } from "../../events/vocabulary.ts";
import { type AccountState, opened, withRoom } from "../account/account.ts";
import { HistoryFull, TierRequired } from "../errors.ts";
import { DomainNotFound, DomainNotProven, DomainNotVerified } from "./domain-errors.ts";
import type { OwnDomain, VerifiedDomain } from "./domain-state.ts";

/** Adding a domain again changes nothing: its token stays as it was shown. @throws TierRequired, HistoryFull */
export function add(
  account: AccountState,
  c: { hostname: string; token: string; at: string },
): AccountEvent[] {
  const { tier, domains, domainsAdded } = opened(account);
  if (!TIER_LIMITS[tier].developerFeatures) throw new TierRequired("Custom domains");
  if (domains.has(c.hostname)) return [];
  const { accountId } = withRoom(account);
  if (domainsAdded >= STREAM_LIMITS.domainsAdded)
    throw new HistoryFull(
      `This account has added ${STREAM_LIMITS.domainsAdded} domains, as many as one account can`,
      "go on with those it has, or open another account",
    );
  return [{ type: "DomainAdded", data: { accountId, ...c } }];
}

export type Verification = { hostname: string; domainId: string; how: "dns" | "operator"; at: string };

/** How long a verified domain goes on serving while the record that proved it is gone. */
export const RECORD_MAY_BE_GONE_MS = 7 * 86_400_000;

/**
 * A verified domain is active at once (interface, part 3 knows no step between). One that was lost with its record
 * comes back when the record is proven again.
 */
export function verify(account: AccountState, c: Verification): AccountEvent[] {
  const { accountId } = opened(account);
  const { hostname, domainId, how, at } = c;
  const domain = ownDomain(account, hostname);
  if (domain.state !== "added") {
    if (domain.recordLostAt === null) return [];
    const own = { accountId, hostname, domainId: domain.domainId, at };
    const found: AccountEvent = { type: "DomainRecordFound", data: own };
    return domain.state === "active" ? [found] : [found, { type: "DomainActivated", data: own }];
  }
  return [
    { type: "DomainVerified", data: { accountId, hostname, domainId, how, at } },
    { type: "DomainActivated", data: { accountId, hostname, domainId, at } },
  ];
}

/** @throws DomainNotFound, HistoryFull, DomainNotProven while the record that proved the ownership is gone */
export function activate(account: AccountState, c: { domainId: string; at: string }): AccountEvent[] {
  withRoom(account);
  const domain = verifiedDomain(account, c.domainId);
  if (domain?.state === "inactive" && domain.recordLostAt !== null)
    throw new DomainNotProven(
      `The TXT record of ${domain.hostname} is gone: set it again, then verify the domain`,
    );
  return move(account, c, "active", "DomainActivated");
}

/** Nothing is served on it until it is active again: neither redirects nor certificates. */
export function deactivate(account: AccountState, c: { domainId: string; at: string }): AccountEvent[] {
  return move(account, c, "inactive", "DomainDeactivated");
}

/** Removing a domain that isn't there (any more) changes nothing, so that a removal can be repeated. */
export function remove(
  account: AccountState,
  c: { hostname: string; at: string; reason?: "taken_over" | undefined },
): AccountEvent[] {
  const { accountId, domains } = opened(account);
  const domain = domains.get(c.hostname);
  if (!domain) return [];
  const id = domain.state === "added" ? {} : { domainId: domain.domainId };
  const reason = c.reason ? { reason: c.reason } : {};
  return [{ type: "DomainRemoved", data: { accountId, hostname: c.hostname, ...id, ...reason, at: c.at } }];
}

/** What the daily check found of the TXT record; operators' word stands without one. */
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

/** `homeUrl`: where the domain's `/` leads; null is a small page of ours. @throws DomainNotFound, HistoryFull */
export function setHome(
  account: AccountState,
  c: { domainId: string; homeUrl: string | null; at: string },
): AccountEvent[] {
  const { accountId } = withRoom(account);
  const domain = verifiedDomain(account, c.domainId);
  if (!domain) throw new DomainNotFound();
  return [{ type: "DomainHomeSet", data: { accountId, hostname: domain.hostname, ...c } }];
}

/** @throws DomainNotFound */
export function ownDomain(account: AccountState, hostname: string): OwnDomain {
  const domain = opened(account).domains.get(hostname);
  if (!domain) throw new DomainNotFound();
  return domain;
}

/** The verified domain with this id; undefined when there is none. */
export function verifiedDomain(account: AccountState, domainId: string): VerifiedDomain | undefined {
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
