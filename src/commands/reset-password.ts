// A lost password: a link that lets its holder choose a new one, once; all sessions end with the old one.
import type { EventStore } from "../event-store/port.ts";
import type { Secrets } from "../secrets/port.ts";
import { opened } from "./account.ts";
import { LinkExpired } from "./account-errors.ts";
import { loadAccount } from "./account-stream.ts";
import { issueToken, lookAtToken, useToken } from "./one-time-token.ts";
import { emailSecret } from "./open-account.ts";
import { acceptPassword, hashPassword, keepPassword, passwordEpoch } from "./password.ts";

export type ResetDeps = { eventStore: EventStore; secrets: Secrets; clock: () => Date; newId: () => string };

/** `epoch`: the password it replaces; a token is void once that has changed. */
type Reset = { accountId: string; epoch: string };

/** Path and query of the page where the password is chosen. @throws AccountNotFound */
export async function issuePasswordReset(
  deps: ResetDeps,
  accountId: string,
  lifetimeMs: number,
): Promise<{ path: string; expiresAt: string }> {
  opened(await loadAccount(deps.eventStore, accountId));
  const epoch = await passwordEpoch(deps.secrets, accountId, deps.clock());
  const expiresAt = new Date(deps.clock().getTime() + lifetimeMs).toISOString();
  const token = await issueToken(deps, "password", { accountId, epoch } satisfies Reset, lifetimeMs);
  return { path: `/portal/reset/choose?token=${token}`, expiresAt };
}

/** Whose password it is for. @throws LinkExpired */
export async function lookAtReset(
  deps: ResetDeps,
  token: string,
): Promise<{ accountId: string; email: string }> {
  const { accountId, epoch } = await lookAtToken<Reset>(deps, "password", token);
  if (epoch !== (await passwordEpoch(deps.secrets, accountId, deps.clock()))) throw new LinkExpired();
  return { accountId, email: String((await deps.secrets.get(emailSecret(accountId), deps.clock())) ?? "") };
}

/** @throws LinkExpired, PasswordRefused (the link can be used again then), AccountNotFound */
export async function resetPassword(
  deps: ResetDeps,
  token: string,
  password: string,
): Promise<{ accountId: string; epoch: string }> {
  const { accountId, email } = await lookAtReset(deps, token);
  opened(await loadAccount(deps.eventStore, accountId));
  const passwordHash = await hashPassword(acceptPassword(password, { email }));
  await useToken(deps, "password", token);
  return { accountId, epoch: await keepPassword(deps, accountId, passwordHash) };
}
