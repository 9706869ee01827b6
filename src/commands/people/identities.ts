// Who signs in at an OpenID provider, by issuer and subject, never by an address: what is kept of that beside the log.
import { hash } from "node:crypto";
import type { Secrets } from "../../stores/secrets/port.ts";
import { identitySecret, personByIdentitySecret } from "./secrets.ts";

/** `email`: the last that the provider had proven. Times: ISO 8601 UTC. */
export type Identity = {
  identityId: string;
  issuer: string;
  subject: string;
  email: string | null;
  linkedAt: string;
  usedAt: string | null;
};

export type IdentityName = Pick<Identity, "issuer" | "subject">;
type OfPerson = { personId: string; identityId: string };
type Deps = { secrets: Secrets; clock: () => Date };

/** Oldest first. */
export async function identitiesOf({ secrets, clock }: Deps, personId: string): Promise<Identity[]> {
  const records = await secrets.list(identitySecret(personId, ""), clock());
  const identities = records.map(({ value }) => value as Identity);
  return identities.sort((a, b) => a.linkedAt.localeCompare(b.linkedAt));
}

/** A binding that the person's own record does not confirm, left over from an interrupted change, is ignored. */
export async function personWithIdentity(
  { secrets, clock }: Deps,
  name: IdentityName,
): Promise<{ personId: string; identity: Identity } | undefined> {
  const bound = (await secrets.get(boundBy(name), clock())) as OfPerson | undefined;
  if (!bound) return undefined;
  const identity = await secrets.get(identitySecret(bound.personId, bound.identityId), clock());
  return identity === undefined ? undefined : { personId: bound.personId, identity: identity as Identity };
}

/** Its caller holds the lock of the identity, and has recorded it. */
export async function storeIdentity(
  { secrets }: Pick<Deps, "secrets">,
  personId: string,
  identity: Identity,
): Promise<void> {
  const { identityId } = identity;
  await secrets.put(identitySecret(personId, identityId), { value: identity });
  await secrets.put(boundBy(identity), { value: { personId, identityId } satisfies OfPerson });
}

/** Notes a sign-in. `email`: proven now. */
export async function usedIdentity(
  { secrets, clock }: Deps,
  personId: string,
  identity: Identity,
  email: string | undefined,
): Promise<void> {
  const value = { ...identity, usedAt: clock().toISOString(), email: email ?? identity.email };
  await secrets.putIfPresent(identitySecret(personId, identity.identityId), { value }, clock());
}

/** All of a person who is removed. */
export async function forgetIdentities(deps: Deps, personId: string): Promise<void> {
  for (const identity of await identitiesOf(deps, personId)) await forgetIdentity(deps, personId, identity);
}

export async function forgetIdentity(
  { secrets }: Pick<Deps, "secrets">,
  personId: string,
  identity: Identity,
): Promise<void> {
  await secrets.delete(boundBy(identity));
  await secrets.delete(identitySecret(personId, identity.identityId));
}

/** Also names the lock of who links it. */
export function boundBy({ issuer, subject }: IdentityName): string {
  return personByIdentitySecret(hash("sha256", JSON.stringify([issuer, subject])));
}
