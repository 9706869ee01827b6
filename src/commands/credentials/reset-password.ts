// Password reset by a one-time link; sessions of the old password's epoch are void from then on.
import {
  type AccountTokenDeps,
  issueAccountToken,
  lookAtAccountToken,
  useAccountToken,
} from "./account-token.ts";
import { acceptPassword, hashPassword, keepPassword } from "./password.ts";

export type ResetDeps = AccountTokenDeps & { newId: () => string };

/** `path`: path and query of the page where the new password is chosen. @throws account_not_found */
export async function issuePasswordReset(
  deps: AccountTokenDeps,
  accountId: string,
  lifetimeMs: number,
): Promise<{ path: string; expiresAt: string }> {
  const expiresAt = new Date(deps.clock().getTime() + lifetimeMs).toISOString();
  const token = await issueAccountToken(deps, "password", { accountId, value: {}, lifetimeMs });
  return { path: `/portal/reset/choose?token=${token}`, expiresAt };
}

/** Reads the account of a reset link without consuming the link. @throws link_expired */
export async function lookAtReset(
  deps: AccountTokenDeps,
  token: string,
): Promise<{ accountId: string; email: string }> {
  return await lookAtAccountToken(deps, "password", token);
}

/**
 * Returns the new password's epoch. The link is consumed only after the password is accepted.
 * @throws link_expired, password_refused, account_not_found
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
