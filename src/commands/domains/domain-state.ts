// Folds the custom domains of one account: states as in interface, part 3, and what the daily check found.
import type { AccountEvent } from "../../events/catalogue.ts";

/**
 * `added` has no id yet: verification issues it (interface, part 2). Removed domains are not kept. `recordLostAt`:
 * since when the TXT record is known to be gone; null while it is there, or while nobody has missed it.
 */
export type OwnDomain =
  | { state: "added"; hostname: string; token: string }
  | {
      state: "active" | "inactive";
      hostname: string;
      token: string;
      domainId: string;
      proven: "dns" | "operator";
      recordLostAt: string | null;
    };

export type VerifiedDomain = Exclude<OwnDomain, { state: "added" }>;

/** By hostname. */
export type OwnDomains = Map<string, OwnDomain>;

export type OwnDomainEvent = Extract<AccountEvent, { type: `Domain${string}` }>;

/** In place. */
export function evolveDomains(domains: OwnDomains, event: OwnDomainEvent): void {
  const { hostname } = event.data;
  if (event.type === "DomainRemoved") {
    domains.delete(hostname);
  } else if (event.type === "DomainAdded") {
    domains.set(hostname, { state: "added", hostname, token: event.data.token });
  } else {
    const known = domains.get(hostname);
    if (known) domains.set(hostname, evolveDomain(known, event));
  }
}

function evolveDomain(
  domain: OwnDomain,
  event: Exclude<OwnDomainEvent, { type: "DomainAdded" | "DomainRemoved" }>,
): OwnDomain {
  if (event.type === "DomainVerified") {
    const { domainId, how } = event.data;
    return { ...domain, state: "inactive", domainId, proven: how, recordLostAt: null };
  }
  if (domain.state === "added") return domain;
  switch (event.type) {
    case "DomainActivated":
      return { ...domain, state: "active" };
    case "DomainDeactivated":
      return { ...domain, state: "inactive" };
    case "DomainRecordLost":
      return { ...domain, recordLostAt: event.data.at };
    case "DomainRecordFound":
      return { ...domain, recordLostAt: null };
    case "DomainHomeSet":
      return domain;
  }
}
