// What the owner of a key may ask for: scopes, a time when it expires, and the networks that it may be used from.

import { KEY_SCOPES, type KeyScope, USUAL_SCOPES } from "../../events/vocabulary.ts";
import { networkOf } from "../../runtime/addresses/networks.ts";
import { cutText } from "../../runtime/text/cut-text.ts";
import { Refused } from "../refusals.ts";
import type { KeyTerms } from "./account.ts";

/** `expiresAt`: a time to come. `networks`: addresses, or networks as CIDR; none for all. Without a member: no bound. */
export type KeyTermsRequest = {
  scopes?: readonly string[] | undefined;
  expiresAt?: Date | undefined;
  networks?: readonly string[] | undefined;
};

const MOST_NETWORKS = 20;

/** @throws invalid_key with the field: `scopes`, `expires_at` or `networks` */
export function acceptKeyTerms({ scopes, expiresAt, networks = [] }: KeyTermsRequest, now: Date): KeyTerms {
  const terms: KeyTerms = {};
  if (scopes) {
    const wanted = KEY_SCOPES.filter((scope) => scopes.includes(scope));
    const unknown = scopes.find((scope) => !KEY_SCOPES.includes(scope as KeyScope));
    if (unknown)
      throw invalid("scopes", `${cutText(unknown, 40)} is no scope: there are ${KEY_SCOPES.join(", ")}`);
    if (wanted.length === 0)
      throw invalid("scopes", `A key has at least one scope: ${KEY_SCOPES.join(", ")}`);
    if (wanted.join() !== USUAL_SCOPES.join()) terms.scopes = wanted;
  }
  if (expiresAt && expiresAt <= now) throw invalid("expires_at", "A key must expire at a time to come");
  if (expiresAt) terms.expiresAt = expiresAt.toISOString();
  if (networks.length > MOST_NETWORKS)
    throw invalid("networks", `A key can have at most ${MOST_NETWORKS} networks`);
  if (networks.length > 0) terms.networks = [...new Set(networks.map(acceptNetwork))];
  return terms;
}

function acceptNetwork(text: string): string {
  const network = networkOf(text.trim());
  if (network) return network;
  throw invalid(
    "networks",
    `${cutText(text.trim(), 60)} is no network: give addresses, or networks such as 203.0.113.0/24 or 2001:db8::/32`,
  );
}

function invalid(field: string, message: string): Refused {
  return new Refused("invalid_key", message, { field });
}
