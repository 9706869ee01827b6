// One-time tokens, mailed or handed over by the operator: to sign up, choose a new password, confirm a new address, sign in. Only
// their SHA-256 is stored. Those of a person are void once their password or address changes, or they are removed.
import { hash, randomBytes } from "node:crypto";
import type { Tier } from "../../events/vocabulary.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { Refused } from "../refusals.ts";
import { acceptEmail, type ChangedEmail, changeEmail, personWithEmail, provedEmail } from "./email.ts";
import { acceptPassword, hashPassword, keepPassword, type PasswordDeps, passwordEpoch } from "./password.ts";
import { byPerson, recordAct } from "./person-stream.ts";
import { emailSecret, normalEmail } from "./secrets.ts";

type Deps = { secrets: Secrets; clock: () => Date };

/** Part of the secret's name, so that a token of one purpose is unknown for another. */
type TokenPurpose = "sign-up" | "password" | "email" | "sign-in";

/**
 * `email`: the person's, or the one that they are to get. `credentials`: of theirs at the time of issue. `isMailed`: to the
 * address, and shown to nobody.
 */
type OfPerson = { personId: string; email: string; credentials: string; isMailed: boolean };

/** A token as it is handed out. `expiresAt`: ISO 8601 UTC. */
type IssuedToken = { token: string; expiresAt: string };

/** `value` is plain JSON. */
export async function issueToken(
  { secrets, clock }: Deps,
  purpose: TokenPurpose,
  value: unknown,
  lifetimeMs: number,
): Promise<IssuedToken> {
  const token = randomBytes(32).toString("base64url");
  const expiresAt = new Date(clock().getTime() + lifetimeMs).toISOString();
  await secrets.put(tokenSecret(purpose, token), { value, expiresAt });
  return { token, expiresAt };
}

/** How long the operator's invitations work, and the first link to the password of an account that the operator has made. */
export const INVITATION_MS = 7 * 86_400_000;

/** An account that is not open yet. `isMailed`: the link is mailed to the address, and shown to nobody. */
export type Invitation = { email: string; tier: Tier; isMailed: boolean };

/**
 * Path and query of the page where the account's owner chooses a password, which opens the account.
 * @throws invalid_email, email_taken
 */
export async function invite(
  deps: Deps,
  { email: address, tier, isMailed }: Invitation,
  lifetimeMs: number,
): Promise<{ path: string; email: string; expiresAt: string }> {
  const email = acceptEmail(address);
  if (await personWithEmail(deps, email)) throw new Refused("email_taken");
  const invitation: Invitation = { email, tier, isMailed };
  const { token, expiresAt } = await issueToken(deps, "sign-up", invitation, lifetimeMs);
  return { path: `/portal/sign-up/finish?token=${token}`, email, expiresAt };
}

/** Reads an invitation without consuming it. @throws token_expired, also where the address has got an account */
export async function lookAtInvitation(deps: Deps, token: string): Promise<Invitation> {
  const invitation = await lookAtToken<Invitation>(deps, "sign-up", token);
  if (await personWithEmail(deps, invitation.email)) throw new Refused("token_expired");
  return invitation;
}

/** Reads the token's value without consuming it. @throws token_expired */
export async function lookAtToken<T>(deps: Deps, purpose: TokenPurpose, token: string): Promise<T> {
  return unlessExpired<T>(await deps.secrets.get(tokenSecret(purpose, token), deps.clock()));
}

/** Consumes the token; of concurrent attempts exactly one succeeds. @throws token_expired */
export async function useToken<T>(deps: Deps, purpose: TokenPurpose, token: string): Promise<T> {
  return unlessExpired<T>(await deps.secrets.take(tokenSecret(purpose, token), deps.clock()));
}

/**
 * `path`: path and query of the page where the new password is chosen. `isMailed`: it is mailed to the person, and shown to
 * nobody. @throws person_not_found
 */
export async function issuePasswordReset(
  deps: Deps,
  personId: string,
  { lifetimeMs, isMailed }: { lifetimeMs: number; isMailed: boolean },
): Promise<{ path: string; expiresAt: string }> {
  const email = String(await deps.secrets.get(emailSecret(personId), deps.clock()));
  const of = { personId, email, isMailed };
  const { token, expiresAt } = await issuePersonToken(deps, "password", of, lifetimeMs);
  return { path: `/portal/reset/choose?token=${token}`, expiresAt };
}

/** Reads whose a reset link is without consuming the link. @throws token_expired */
export async function lookAtReset(deps: Deps, token: string): Promise<{ personId: string; email: string }> {
  return await stillValid(deps, await lookAtToken<OfPerson>(deps, "password", token));
}

/**
 * Returns the new password's epoch; sessions of the old one's are void from then on. The link is consumed only after the
 * password is accepted.
 * @throws token_expired, password_refused, person_not_found
 */
export async function resetPassword(
  deps: PasswordDeps,
  requestId: string,
  token: string,
  password: string,
): Promise<{ personId: string; epoch: string }> {
  const { email } = await lookAtReset(deps, token);
  const passwordHash = await hashPassword(acceptPassword(password, { email }));
  const { personId, isMailed } = await stillValid(deps, await useToken<OfPerson>(deps, "password", token));
  const context = byPerson(requestId, personId);
  const epoch = await keepPassword(deps, context, personId, { how: "link", passwordHash });
  // Only now is a password void that somebody else may have chosen before.
  if (isMailed) await provedEmail(deps, personId, email);
  return { personId, epoch };
}

/**
 * Path and query of the page that confirms the new address, to be mailed there. Undefined when the address belongs to somebody else: then no
 * mail is sent, and the caller's answer is the same, so that addresses can't be enumerated.
 * @throws invalid_email, person_not_found
 */
export async function issueEmailChange(
  deps: Deps,
  personId: string,
  text: string,
  lifetimeMs: number,
): Promise<{ path: string } | undefined> {
  const email = acceptEmail(text);
  const holder = await personWithEmail(deps, email);
  if (holder && holder.personId !== personId) return undefined;
  const { token } = await issuePersonToken(deps, "email", { personId, email, isMailed: true }, lifetimeMs);
  return { path: `/portal/profile/email/confirm?token=${token}` };
}

/** Reads the new address without consuming the token. @throws token_expired */
export async function lookAtEmailChange(deps: Deps, token: string): Promise<{ email: string }> {
  return await stillValid(deps, await lookAtToken<OfPerson>(deps, "email", token));
}

/** @throws token_expired, email_taken, person_not_found */
export async function confirmEmailChange(
  deps: Deps & { eventStore: EventStore; newId: () => string },
  token: string,
): Promise<ChangedEmail> {
  const { personId, email } = await stillValid(deps, await useToken<OfPerson>(deps, "email", token));
  const changed = await changeEmail(deps, personId, email);
  await provedEmail(deps, personId, email);
  return changed;
}

const SIGN_IN_LINK_MS = 600_000;

/**
 * A link that signs the person in, once, whatever ways of signing in there are. `path`: path and query of its page. Recorded
 * first: there is no link that the log doesn't know of. @throws person_not_found
 */
export async function issueSignInLink(
  deps: CommandDeps & { secrets: Secrets },
  context: CommandContext,
  personId: string,
): Promise<{ path: string; expiresAt: string }> {
  const expiresAt = new Date(deps.clock().getTime() + SIGN_IN_LINK_MS).toISOString();
  await recordAct(deps, context, personId, "SignInLinkIssued", { expiresAt });
  const { token } = await issueToken(deps, "sign-in", { personId }, SIGN_IN_LINK_MS);
  return { path: `/portal/sign-in/link?token=${token}`, expiresAt };
}

/** Whom a link would sign in, without consuming it. @throws token_expired, also once they are removed */
export async function lookAtSignInLink(deps: Deps, token: string): Promise<{ email: string }> {
  const { personId } = await lookAtToken<{ personId: string }>(deps, "sign-in", token);
  return { email: unlessExpired<string>(await deps.secrets.get(emailSecret(personId), deps.clock())) };
}

/** `epoch`: of the person's present password. @throws token_expired */
export async function useSignInLink(deps: Deps, token: string): Promise<{ personId: string; epoch: string }> {
  await lookAtSignInLink(deps, token);
  const { personId } = await useToken<{ personId: string }>(deps, "sign-in", token);
  return { personId, epoch: await passwordEpoch(deps.secrets, personId, deps.clock()) };
}

async function issuePersonToken(
  deps: Deps,
  purpose: TokenPurpose,
  of: Omit<OfPerson, "credentials">,
  lifetimeMs: number,
): Promise<IssuedToken> {
  const credentials = await credentialsOf(deps, of.personId);
  if (credentials === undefined) throw new Refused("person_not_found");
  return await issueToken(deps, purpose, { ...of, credentials } satisfies OfPerson, lifetimeMs);
}

async function stillValid(deps: Deps, token: OfPerson): Promise<OfPerson> {
  if ((await credentialsOf(deps, token.personId)) !== token.credentials) throw new Refused("token_expired");
  return token;
}

/** SHA-256 of password epoch and address; undefined for who is unknown or removed. */
async function credentialsOf({ secrets, clock }: Deps, personId: string): Promise<string | undefined> {
  const now = clock();
  const [epoch, email] = await Promise.all([
    passwordEpoch(secrets, personId, now),
    secrets.get(emailSecret(personId), now),
  ]);
  return typeof email === "string" ? hash("sha256", `${epoch} ${normalEmail(email)}`) : undefined;
}

function unlessExpired<T>(value: unknown): T {
  if (value === undefined) throw new Refused("token_expired");
  return value as T;
}

function tokenSecret(purpose: TokenPurpose, token: string): string {
  return `token/${purpose}/${hash("sha256", token)}`;
}
