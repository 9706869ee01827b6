// Folds the custom domains of one account: the states of the interface, part 3, and the results of the daily TXT check.
import type { AccountEvent } from "../../events/catalogue.ts";

/**
 * `added` has no id yet: verification issues it (interface, part 2). Removed domains are dropped from the state.
 * `recordLostAt`: when a check first found the TXT record missing; null if the last check found it.
 */
export type DomainState =
  | { state: "added"; hostname: string; token: string }
  | {
      state: "active" | "inactive";
      hostname: string;
      token: string;
      domainId: string;
      proven: "dns" | "operator";
      recordLostAt: string | null;
    };

export type VerifiedDomainState = Exclude<DomainState, { state: "added" }>;

/** By hostname. */
export type DomainStates = Map<string, DomainState>;

export type AccountDomainEvent = Extract<AccountEvent, { type: `Domain${string}` }>;

/** Mutates `domains`. */
export function evolveDomains(domains: DomainStates, event: AccountDomainEvent): void {
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
  domain: DomainState,
  event: Exclude<AccountDomainEvent, { type: "DomainAdded" | "DomainRemoved" }>,
): DomainState {
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
