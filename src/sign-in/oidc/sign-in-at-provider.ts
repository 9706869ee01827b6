// Signing in at the provider: whose sign-in it is, and what becomes of their address and memberships by it.

import { changeAccount } from "../../commands/account/account-stream.ts";
import { endLateMembership } from "../../commands/account/change-members.ts";
import { followSettings, type GivenRole } from "../../commands/account/decide-member.ts";
import { acceptInvitationTo, invitationsTo } from "../../commands/account/invitations.ts";
import { openOwnAccount } from "../../commands/account/sign-up.ts";
import type { CommandContext } from "../../commands/caller.ts";
import type { CommandDeps } from "../../commands/handle-command.ts";
import { changeName, registerPerson } from "../../commands/people/change-person.ts";
import { changeEmail, isEmailProven, personWithEmail } from "../../commands/people/email.ts";
import {
  boundBy,
  forgetIdentity,
  type Identity,
  identitiesOf,
  personWithIdentity,
  storeIdentity,
  usedIdentity,
} from "../../commands/people/identities.ts";
import { type AccountsOf, byPerson, recordAct, writeForPerson } from "../../commands/people/person-stream.ts";
import { emailSecret, LAST_CLAIMS_SECRET, normalEmail } from "../../commands/people/secrets.ts";
import { isRefused, Refused } from "../../commands/refusals.ts";
import { withLock } from "../../commands/with-lock.ts";
import type { GroupGrant, Joining } from "../../config/formats.ts";
import type { Tier } from "../../events/vocabulary.ts";
import type { Position } from "../../stores/event-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import { decideSignIn, type SignInDecision } from "./decide-sign-in.ts";
import type { OidcClient, ProviderIdentity } from "./oidc-client.ts";
import { givenTo } from "./provider-groups.ts";

/** The provider, and what its people get (OIDC_NAME, OIDC_GROUPS, OIDC_JOIN). */
export type Oidc = {
  client: OidcClient;
  name: string;
  groups: readonly GroupGrant[];
  joining: Joining;
};

type Deps = CommandDeps & {
  secrets: Secrets;
  defaultTier: Tier;
  accountsOf: AccountsOf;
  oidc: Oidc;
};

const SYSTEM = { type: "system", id: "sign-in" } as const;
const LAST_CLAIMS_LAST_MS = 86_400_000;

export type LastClaims = { at: string; identity: Omit<ProviderIdentity, "idToken"> };

type Settled = {
  personId: string;
  hasAccepted?: boolean;
  isLinked?: boolean;
  position: Position | undefined;
};

/**
 * `position`: of the last event, where there is one. `hasAccepted`: whether invitations were accepted by it. `isLinked`: to who
 * was here before, by the address. `isOperator`: by a group, for as long as the session lasts.
 */
type SignedIn = Settled & { isOperator: boolean };

/** @throws provider_refused with what the person can do; try_again where the same sign-in is finished elsewhere just now */
export async function signInAtProvider(
  deps: Deps,
  requestId: string,
  identity: ProviderIdentity,
): Promise<SignedIn> {
  const { idToken: _, ...shown } = identity;
  const at = deps.clock();
  const value: LastClaims = { at: at.toISOString(), identity: shown };
  const expiresAt = new Date(at.getTime() + LAST_CLAIMS_LAST_MS).toISOString();
  await deps.secrets.put(LAST_CLAIMS_SECRET, { value, expiresAt });
  const isKnown = (await personWithIdentity(deps, identity)) !== undefined;
  const settle = () => settled(deps, requestId, identity);
  const settledAs = isKnown ? await settle() : await alone(deps, identity, settle);
  const granted = givenTo(identity.groups, deps.oidc.groups);
  const followed = await followGroups(deps, requestId, settledAs.personId, identity, granted.roles);
  return { ...settledAs, isOperator: granted.isOperator, position: followed ?? settledAs.position };
}

/** What would be done of an identity; it changes nothing. */
export async function considerSignIn(
  deps: Deps,
  identity: Omit<ProviderIdentity, "idToken">,
): Promise<{
  decision: SignInDecision;
  identity: Identity | undefined;
  invitations: Awaited<ReturnType<typeof invitationsTo>>;
}> {
  const { email, emailVerified } = identity;
  const [linked, holder] = await Promise.all([
    personWithIdentity(deps, identity),
    email === undefined ? undefined : personWithEmail(deps, email),
  ]);
  const isNew = linked === undefined && holder === undefined;
  const invitations = isNew && email !== undefined ? await invitationsTo(deps, email) : [];
  const granted = givenTo(identity.groups, deps.oidc.groups);
  const decision = decideSignIn(identity, {
    linked: linked?.personId,
    holder: holder && {
      personId: holder.personId,
      isConfirmed: await isEmailProven(deps, holder.personId),
      hasIdentityOfIssuer: (await identitiesOf(deps, holder.personId)).some(
        ({ issuer }) => issuer === identity.issuer,
      ),
    },
    isInvited: invitations.length > 0,
    isInGroup: granted.isOperator || granted.roles.size > 0,
    joining: deps.oidc.joining,
  });
  // Whoever has an unproven address of somebody who is invited accepts nothing, though settings let them in.
  return { decision, identity: linked?.identity, invitations: emailVerified ? invitations : [] };
}

async function settled(deps: Deps, requestId: string, identity: ProviderIdentity): Promise<Settled> {
  const { decision, identity: linked, invitations } = await considerSignIn(deps, identity);
  if (decision.type === "refuse") throw new Refused("provider_refused", decision.why);
  if (decision.type === "register")
    return await register(deps, requestId, identity, decision.address, invitations);
  const { personId } = decision;
  if (decision.type === "link") {
    await link(deps, byPerson(requestId, personId), personId, identity, "address");
    return { personId, isLinked: true, position: undefined };
  }
  if (linked) {
    await followAddress(deps, personId, linked, decision.address);
    await usedIdentity(deps, personId, linked, identity.emailVerified ? identity.email : undefined);
  }
  return { personId, position: undefined };
}

/** Another address at the provider becomes theirs here only where they have had the one before from there. */
async function followAddress(deps: Deps, personId: string, linked: Identity, address: string | undefined) {
  if (address === undefined) return;
  const own = String((await deps.secrets.get(emailSecret(personId), deps.clock())) ?? "");
  const isFromThere = own === "" || normalEmail(own) === normalEmail(linked.email ?? "");
  if (!isFromThere || own === address) return;
  try {
    await changeEmail(deps, personId, address);
  } catch (error) {
    // It is somebody else's since, or no address that is accepted here: they sign in all the same.
    if (!isRefused(error)) throw error;
  }
}

async function register(
  deps: Deps,
  requestId: string,
  identity: ProviderIdentity,
  email: string | undefined,
  invitations: readonly { accountId: string; invitationId: string }[],
): Promise<Settled> {
  const { oidc, defaultTier } = deps;
  const hasPlace = invitations.length > 0 || givenTo(identity.groups, oidc.groups).roles.size > 0;
  const joining = hasPlace ? "nothing" : oidc.joining;
  const { personId, position } = await registerPerson(deps, requestId, email);
  const context = byPerson(requestId, personId);
  await link(deps, context, personId, identity, "first");
  if (identity.name !== undefined) await changeName(deps, personId, identity.name);
  let last = position;
  for (const invitation of invitations) {
    try {
      last = (await acceptInvitationTo(deps, requestId, invitation, personId)).position ?? last;
    } catch (error) {
      // Withdrawn in this moment, or the account is full: the others are accepted.
      if (!isRefused(error)) throw error;
    }
  }
  if (joining === "account")
    last = (await openOwnAccount(deps, context, { personId, tier: defaultTier })).position ?? last;
  else if (joining !== "nothing") {
    const { accountId, role } = joining;
    last = (await give(deps, requestId, accountId, { personId, role, through: "newcomer" })) ?? last;
  }
  return { personId, hasAccepted: invitations.length > 0, position: last };
}

/** `roles`: by account, what the groups give. Where the provider has cut them off, memberships stay as they are. */
async function followGroups(
  deps: Deps,
  requestId: string,
  personId: string,
  { groups }: ProviderIdentity,
  roles: ReturnType<typeof givenTo>["roles"],
): Promise<Position | undefined> {
  if ("unknown" in groups) return undefined;
  let last: Position | undefined;
  for (const accountId of new Set([...(await deps.accountsOf(personId)), ...roles.keys()])) {
    const membership = { personId, role: roles.get(accountId), through: "group" } as const;
    last = (await give(deps, requestId, accountId, membership)) ?? last;
  }
  return last;
}

/** A membership that can't be given, as the account is full, keeps nobody from signing in. */
async function give(deps: Deps, requestId: string, accountId: string, membership: GivenRole) {
  try {
    const { personId } = membership;
    const follow = () =>
      changeAccount(deps, { requestId, actor: SYSTEM }, accountId, (account, at) =>
        followSettings(account, { ...membership, at }),
      );
    const leave = () => endLateMembership(deps, byPerson(requestId, personId), accountId, personId);
    return (await writeForPerson(deps, personId, follow, leave)).position;
  } catch (error) {
    if (isRefused(error)) return undefined;
    throw error;
  }
}

/** By who is signed in, and has come back from the provider. @throws provider_refused where it is somebody else's */
export async function linkToPerson(
  deps: Deps,
  context: CommandContext,
  personId: string,
  identity: ProviderIdentity,
): Promise<void> {
  await alone(deps, identity, async () => {
    const linked = await personWithIdentity(deps, identity);
    if (linked === undefined) await link(deps, context, personId, identity, "button");
    else if (linked.personId !== personId)
      throw new Refused("provider_refused", "This sign-in is linked to somebody else here already");
  });
}

/** That it isn't the last way to sign in is for the caller to see to. */
export async function unlinkIdentity(
  deps: Deps,
  context: CommandContext,
  personId: string,
  identity: Identity,
): Promise<void> {
  await forgetIdentity(deps, personId, identity);
  const { identityId } = identity;
  await recordAct(deps, context, personId, "IdentityUnlinked", { identityId });
}

/** Recorded first: nobody signs in by what the log doesn't know of. @throws person_not_found */
async function link(
  deps: Deps,
  context: CommandContext,
  personId: string,
  { issuer, subject, email, emailVerified }: ProviderIdentity,
  how: "first" | "address" | "button",
): Promise<void> {
  const identityId = deps.newId();
  await recordAct(deps, context, personId, "IdentityLinked", { identityId, how });
  const at = deps.clock().toISOString();
  const identity: Identity = {
    ...{ identityId, issuer, subject, linkedAt: at },
    usedAt: how === "button" ? null : at,
    email: emailVerified && email !== undefined ? email : null,
  };
  const store = () => storeIdentity(deps, personId, identity);
  await writeForPerson(deps, personId, store, () => forgetIdentity(deps, personId, identity));
}

/** Of several browsers that come back as the same new identity at once, one after the other. @throws try_again */
async function alone<T>(deps: Deps, identity: ProviderIdentity, work: () => Promise<T>): Promise<T> {
  return await withLock(deps, `${boundBy(identity)}/lock`, "try_again", work);
}
