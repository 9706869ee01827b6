// One-time tokens of an account, void once its password or address changes or it is closed.
import type { EventStore } from "../../event-store/port.ts";
import { Refused } from "../../runtime/refused.ts";
import type { Secrets } from "../../secrets/port.ts";
import { loadOpenAccount } from "../account/account-stream.ts";
import { credentialsOf } from "./credentials.ts";
import { issueToken, lookAtToken, type TokenPurpose, useToken } from "./one-time-token.ts";

export type AccountTokenDeps = { eventStore: EventStore; secrets: Secrets; clock: () => Date };

/** `credentials`: the digest of `credentialsOf` at the time of issue. */
type Bound<T> = { accountId: string; credentials: string; value: T };

/** `email`: the account's, as it is stored. */
export type OfAccount<T> = { accountId: string; email: string; value: T };

/** `value` is plain JSON. @throws account_not_found */
export async function issueAccountToken<T>(
  deps: AccountTokenDeps,
  purpose: TokenPurpose,
  c: { accountId: string; value: T; lifetimeMs: number },
): Promise<string> {
  const { accountId, value, lifetimeMs } = c;
  await loadOpenAccount(deps.eventStore, accountId);
  const credentials = await credentialsOf(deps, accountId);
  if (!credentials) throw new Refused("account_not_found");
  const bound: Bound<T> = { accountId, credentials: credentials.digest, value };
  return await issueToken(deps, purpose, bound, lifetimeMs);
}

/** Reads a token without consuming it. @throws link_expired */
export async function lookAtAccountToken<T>(
  deps: AccountTokenDeps,
  purpose: TokenPurpose,
  token: string,
): Promise<OfAccount<T>> {
  return await stillBound(deps, await lookAtToken<Bound<T>>(deps, purpose, token));
}

/** Consumes a token; of concurrent attempts exactly one succeeds. @throws link_expired */
export async function useAccountToken<T>(
  deps: AccountTokenDeps,
  purpose: TokenPurpose,
  token: string,
): Promise<OfAccount<T>> {
  return await stillBound(deps, await useToken<Bound<T>>(deps, purpose, token));
}

async function stillBound<T>(deps: AccountTokenDeps, bound: Bound<T>): Promise<OfAccount<T>> {
  const { accountId, value } = bound;
  const credentials = await credentialsOf(deps, accountId);
  if (credentials?.digest !== bound.credentials) throw new Refused("link_expired");
  return { accountId, email: credentials.email, value };
}
