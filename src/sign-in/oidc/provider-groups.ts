// Which groups a provider says that somebody is in, and what the operator gives to these (OIDC_GROUPS).
import type { GroupGrant } from "../../config/formats.ts";
import { ROLES, type Role } from "../../events/vocabulary.ts";
import { isObject } from "../../runtime/is-object.ts";

/**
 * `unknown`: the provider has cut the list off, as Entra does beyond 200 groups: memberships stay as they are then. An absent
 * claim is no group, as providers leave it out for people without any.
 */
export type ProviderGroups = { known: readonly string[] } | { unknown: string };

const MOST_GROUPS = 1_000;

/** `claim`: the name that the operator has set; without one, groups mean nothing. */
export function groupsIn(claims: Record<string, unknown>, claim: string | undefined): ProviderGroups {
  if (claim === undefined) return { unknown: "OIDC_GROUPS_CLAIM is not set" };
  const elsewhere = claims._claim_names;
  if ((isObject(elsewhere) && claim in elsewhere) || claims.hasgroups === true)
    return { unknown: `the provider has too many groups of this person to send them in “${claim}”` };
  const list = [claims[claim] ?? []].flat().filter((group) => typeof group === "string");
  return { known: list.slice(0, MOST_GROUPS) };
}

/** `roles`: by account, the highest of what groups give there. */
export function givenTo(
  groups: ProviderGroups,
  grants: readonly GroupGrant[],
): { roles: ReadonlyMap<string, Role>; isOperator: boolean } {
  const known = "known" in groups ? groups.known : [];
  const roles = new Map<string, Role>();
  let isOperator = false;
  for (const { group, gives } of grants) {
    if (!known.includes(group)) continue;
    if (gives === "operator") {
      isOperator = true;
      continue;
    }
    const before = roles.get(gives.accountId);
    if (before === undefined || ROLES.indexOf(gives.role) < ROLES.indexOf(before))
      roles.set(gives.accountId, gives.role);
  }
  return { roles, isOperator };
}
