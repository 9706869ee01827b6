// One-time tokens, mailed or handed over by the operator: to sign up, choose a new password, confirm a new address. Only
// their SHA-256 is stored. Those of an account are void once its password or address changes, or it is closed.
import { hash, randomBytes } from "node:crypto";
import type { Tier } from "../../events/vocabulary.ts";
import { Refused } from "../../runtime/refused.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { Secrets } from "../../stores/secrets/port.ts";
import { loadOpenAccount } from "./accounts.ts";
import { acceptEmail, accountWithEmail, type ChangedEmail, changeEmail } from "./email.ts";
import { acceptPassword, hashPassword, keepPassword, passwordEpoch } from "./password.ts";
import { emailSecret, normalEmail } from "./secrets.ts";

type Deps = { secrets: Secrets; clock: () => Date };
type AccountTokenDeps = Deps & { eventStore: EventStore };

/** Part of the secret's name, so that a token of one purpose is unknown for another. */
type TokenPurpose = "sign-up" | "password" | "email";

/** `email`: the account's, or the one that it is to get. `credentials`: of the account at the time of issue. */
type OfAccount = { accountId: string; email: string; credentials: string };

/** `value` is plain JSON. */
export async function issueToken(
  { secrets, clock }: Deps,
  purpose: TokenPurpose,
  value: unknown,
  lifetimeMs: number,
): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  const expiresAt = new Date(clock().getTime() + lifetimeMs).toISOString();
  await secrets.put(tokenSecret(purpose, token), { value, expiresAt });
  return token;
}

/** How long the operator's invitations work, and the first link to the password of an account that the operator has made. */
export const INVITATION_MS = 7 * 86_400_000;

/** An account that is not open yet: its address and tier. */
export type Invitation = { email: string; tier: Tier };

/**
 * Path and query of the page where the account's owner chooses a password, which opens the account.
 * @throws invalid_email, email_taken
 */
export async function invite(
  deps: Deps,
  { email: address, tier }: Invitation,
  lifetimeMs: number,
): Promise<{ path: string; email: string; expiresAt: string }> {
  const email = acceptEmail(address);
  if (await accountWithEmail(deps, email)) throw new Refused("email_taken");
  const expiresAt = new Date(deps.clock().getTime() + lifetimeMs).toISOString();
  const invitation: Invitation = { email, tier };
  const token = await issueToken(deps, "sign-up", invitation, lifetimeMs);
  return { path: `/portal/sign-up/finish?token=${token}`, email, expiresAt };
}

/** Reads an invitation without consuming it. @throws token_expired, also where the address has got an account */
export async function lookAtInvitation(deps: Deps, token: string): Promise<Invitation> {
  const invitation = await lookAtToken<Invitation>(deps, "sign-up", token);
  if (await accountWithEmail(deps, invitation.email)) throw new Refused("token_expired");
  return invitation;
}

/** Reads the token's value without consuming it. @throws token_expired */
export async function lookAtToken<T>(deps: Deps, purpose: TokenPurpose, token: string): Promise<T> {
  return known<T>(await deps.secrets.get(tokenSecret(purpose, token), deps.clock()));
}

/** Consumes the token; of concurrent attempts exactly one succeeds. @throws token_expired */
export async function useToken<T>(deps: Deps, purpose: TokenPurpose, token: string): Promise<T> {
  return known<T>(await deps.secrets.take(tokenSecret(purpose, token), deps.clock()));
}

/** `path`: path and query of the page where the new password is chosen. @throws account_not_found */
export async function issuePasswordReset(
  deps: AccountTokenDeps,
  accountId: string,
  lifetimeMs: number,
): Promise<{ path: string; expiresAt: string }> {
  const expiresAt = new Date(deps.clock().getTime() + lifetimeMs).toISOString();
  const email = await deps.secrets.get(emailSecret(accountId), deps.clock());
  const token = await issueAccountToken(deps, "password", { accountId, email: String(email) }, lifetimeMs);
  return { path: `/portal/reset/choose?token=${token}`, expiresAt };
}

/** Reads the account of a reset link without consuming the link. @throws token_expired */
export async function lookAtReset(deps: Deps, token: string): Promise<{ accountId: string; email: string }> {
  return await stillValid(deps, await lookAtToken<OfAccount>(deps, "password", token));
}

/**
 * Returns the new password's epoch; sessions of the old one's are void from then on. The link is consumed only after the
 * password is accepted.
 * @throws token_expired, password_refused, account_not_found
 */
export async function resetPassword(
  deps: AccountTokenDeps & { newId: () => string },
  token: string,
  password: string,
): Promise<{ accountId: string; epoch: string }> {
  const { email } = await lookAtReset(deps, token);
  const passwordHash = await hashPassword(acceptPassword(password, { email }));
  const { accountId } = await stillValid(deps, await useToken<OfAccount>(deps, "password", token));
  return { accountId, epoch: await keepPassword(deps, accountId, passwordHash) };
}

/**
 * Path and query of the page that confirms the new address. Undefined when the address belongs to another account: then no
 * mail is sent, and the caller's answer is the same, so that addresses can't be enumerated.
 * @throws invalid_email, account_not_found
 */
export async function issueEmailChange(
  deps: AccountTokenDeps,
  accountId: string,
  text: string,
  lifetimeMs: number,
): Promise<{ path: string } | undefined> {
  const email = acceptEmail(text);
  const holder = await accountWithEmail(deps, email);
  if (holder && holder.accountId !== accountId) return undefined;
  const token = await issueAccountToken(deps, "email", { accountId, email }, lifetimeMs);
  return { path: `/portal/account/email/confirm?token=${token}` };
}

/** Reads the new address without consuming the token. @throws token_expired */
export async function lookAtEmailChange(deps: Deps, token: string): Promise<{ email: string }> {
  return await stillValid(deps, await lookAtToken<OfAccount>(deps, "email", token));
}

/** @throws token_expired, email_taken, account_not_found */
export async function confirmEmailChange(
  deps: AccountTokenDeps & { newId: () => string },
  token: string,
): Promise<ChangedEmail> {
  const { accountId, email } = await stillValid(deps, await useToken<OfAccount>(deps, "email", token));
  return await changeEmail(deps, accountId, email);
}

async function issueAccountToken(
  deps: AccountTokenDeps,
  purpose: TokenPurpose,
  of: Omit<OfAccount, "credentials">,
  lifetimeMs: number,
): Promise<string> {
  await loadOpenAccount(deps.eventStore, of.accountId);
  const credentials = await credentialsOf(deps, of.accountId);
  if (credentials === undefined) throw new Refused("account_not_found");
  return await issueToken(deps, purpose, { ...of, credentials } satisfies OfAccount, lifetimeMs);
}

async function stillValid(deps: Deps, token: OfAccount): Promise<OfAccount> {
  if ((await credentialsOf(deps, token.accountId)) !== token.credentials) throw new Refused("token_expired");
  return token;
}

/** SHA-256 of password epoch and address; undefined for an unknown account and a closed one, whose address is erased. */
async function credentialsOf({ secrets, clock }: Deps, accountId: string): Promise<string | undefined> {
  const now = clock();
  const [epoch, email] = await Promise.all([
    passwordEpoch(secrets, accountId, now),
    secrets.get(emailSecret(accountId), now),
  ]);
  return typeof email === "string" ? hash("sha256", `${epoch} ${normalEmail(email)}`) : undefined;
}

function known<T>(value: unknown): T {
  if (value === undefined) throw new Refused("token_expired");
  return value as T;
}

function tokenSecret(purpose: TokenPurpose, token: string): string {
  return `token/${purpose}/${hash("sha256", token)}`;
}
