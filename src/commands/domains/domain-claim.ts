// Decider of a hostname's claim: at most one account holds it, across all accounts. Pure.
import type { DomainEvent } from "../../events/catalogue.ts";
import { Refused } from "../../runtime/refused.ts";

export type HostnameClaim = { accountId: string; domainId: string };

export type ClaimState = { status: "unclaimed" } | ({ status: "claimed" } & HostnameClaim);

export const unclaimed: ClaimState = { status: "unclaimed" };

export type ClaimHostname = HostnameClaim & {
  hostname: string;
  at: string;
  /** A claim whose account no longer has the domain, because the removal was interrupted before the release. */
  stale?: HostnameClaim | undefined;
};

/**
 * The account's own claim under an earlier domain id (removed, then added again) is replaced by one under the new id.
 * That changes the revision, so that a concurrent release of the earlier claim conflicts and is decided again.
 * @throws domain_taken
 */
export function claim(state: ClaimState, c: ClaimHostname): DomainEvent[] {
  const { hostname, accountId, domainId, at } = c;
  const claimed: DomainEvent = { type: "DomainClaimed", data: { hostname, accountId, domainId, at } };
  if (state.status === "unclaimed") return [claimed];
  if (state.accountId === accountId && state.domainId === domainId) return [];
  if (state.accountId !== accountId && !isSame(state, c.stale))
    throw new Refused("domain_taken", `${hostname} is verified by another account`);
  const { accountId: heldBy, domainId: heldAs } = state;
  return [{ type: "DomainReleased", data: { hostname, accountId: heldBy, domainId: heldAs, at } }, claimed];
}

/** Releases exactly this claim; one of another account or another domain id stays. */
export function release(
  state: ClaimState,
  c: HostnameClaim & { hostname: string; at: string },
): DomainEvent[] {
  if (state.status === "unclaimed" || !isSame(state, c)) return [];
  return [{ type: "DomainReleased", data: { ...c } }];
}

export function evolve(_state: ClaimState, event: DomainEvent): ClaimState {
  switch (event.type) {
    case "DomainClaimed":
      return { status: "claimed", accountId: event.data.accountId, domainId: event.data.domainId };
    case "DomainReleased":
      return unclaimed;
  }
}

function isSame(a: HostnameClaim, b: HostnameClaim | undefined): boolean {
  return b !== undefined && a.accountId === b.accountId && a.domainId === b.domainId;
}
