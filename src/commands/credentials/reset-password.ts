// A lost password: a link that lets its holder choose a new one, once; all sessions end with the old one.
import {
  type AccountTokenDeps,
  issueAccountToken,
  lookAtAccountToken,
  useAccountToken,
} from "./account-token.ts";
import { acceptPassword, hashPassword, keepPassword } from "./password.ts";

export type ResetDeps = AccountTokenDeps & { newId: () => string };

/** Path and query of the page where the password is chosen. @throws AccountNotFound */
export async function issuePasswordReset(
  deps: AccountTokenDeps,
  accountId: string,
  lifetimeMs: number,
): Promise<{ path: string; expiresAt: string }> {
  const expiresAt = new Date(deps.clock().getTime() + lifetimeMs).toISOString();
  const token = await issueAccountToken(deps, "password", { accountId, value: {}, lifetimeMs });
  return { path: `/portal/reset/choose?token=${token}`, expiresAt };
}

/** Whose password it is for. @throws LinkExpired */
export async function lookAtReset(
  deps: AccountTokenDeps,
  token: string,
): Promise<{ accountId: string; email: string }> {
  return await lookAtAccountToken(deps, "password", token);
}

/**
 * Answers the epoch of the new password.
 * @throws LinkExpired, PasswordRefused (the link can be used again then), AccountNotFound
 */
export async function resetPassword(
  deps: ResetDeps,
  token: string,
  password: string,
): Promise<{ accountId: string; epoch: string }> {
  const { email } = await lookAtReset(deps, token);
  const passwordHash = await hashPassword(acceptPassword(password, { email }));
  const { accountId } = await useAccountToken(deps, "password", token);
  return { accountId, epoch: await keepPassword(deps, accountId, passwordHash) };
}
