// Decides who owns a verified hostname: one account at a time, whatever the accounts' own streams say. Pure.
import type { DomainEvent } from "../../events/catalogue.ts";
import { DomainTaken } from "./domain-errors.ts";

export type Claim = { accountId: string; domainId: string };

export type ClaimState = { status: "unclaimed" } | ({ status: "claimed" } & Claim);

export const unclaimed: ClaimState = { status: "unclaimed" };

export type ClaimHostname = Claim & {
  hostname: string;
  at: string;
  /** A holder that no longer has the domain: its removal was cut off before the release. */
  stale?: Claim | undefined;
};

/**
 * A claim of one's own from an earlier life of the domain is renewed under the new id, which moves the revision:
 * whoever was about to release it as stale fails and looks again.
 * @throws DomainTaken
 */
export function claim(state: ClaimState, c: ClaimHostname): DomainEvent[] {
  const { hostname, accountId, domainId, at } = c;
  const claimed: DomainEvent = { type: "DomainClaimed", data: { hostname, accountId, domainId, at } };
  if (state.status === "unclaimed") return [claimed];
  if (state.accountId === accountId && state.domainId === domainId) return [];
  if (state.accountId !== accountId && !isSame(state, c.stale)) throw new DomainTaken(hostname);
  const { accountId: heldBy, domainId: heldAs } = state;
  return [{ type: "DomainReleased", data: { hostname, accountId: heldBy, domainId: heldAs, at } }, claimed];
}

/** Any other claim than this one is left alone: it is another account's, or of the domain's next life. */
export function release(state: ClaimState, c: Claim & { hostname: string; at: string }): DomainEvent[] {
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

function isSame(a: Claim, b: Claim | undefined): boolean {
  return b !== undefined && a.accountId === b.accountId && a.domainId === b.domainId;
}
