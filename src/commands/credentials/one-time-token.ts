// One-time tokens with an expiry, mailed or handed over by the operator; only their SHA-256 is stored.
import { hash, randomBytes } from "node:crypto";
import { Refused } from "../../runtime/refused.ts";
import type { Secrets } from "../../secrets/port.ts";

type Deps = { secrets: Secrets; clock: () => Date };

/** Part of the secret's name, so that a token of one purpose is unknown for another. */
export type TokenPurpose = "sign-up" | "password" | "email";

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

/** Reads the token's value without consuming it. @throws link_expired */
export async function lookAtToken<T>(deps: Deps, purpose: TokenPurpose, token: string): Promise<T> {
  const value = await deps.secrets.get(tokenSecret(purpose, token), deps.clock());
  if (value === undefined) throw new Refused("link_expired");
  return value as T;
}

/** Consumes the token; of concurrent attempts exactly one succeeds. @throws link_expired */
export async function useToken<T>(deps: Deps, purpose: TokenPurpose, token: string): Promise<T> {
  const value = await deps.secrets.take(tokenSecret(purpose, token), deps.clock());
  if (value === undefined) throw new Refused("link_expired");
  return value as T;
}

function tokenSecret(purpose: TokenPurpose, token: string): string {
  return `token/${purpose}/${hash("sha256", token)}`;
}
