// What a browser was sent away with, until it comes back: to a provider, or to its authenticator. Each is bound to the browser
// that began it (login CSRF, RFC 6749, 10.12), is for one purpose, and is used once in all processes.
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Secrets } from "../stores/secrets/port.ts";

type Deps = { secrets: Secrets; clock: () => Date };

/** `name`: of what begins here; `oidc` by its state, so that two tabs don't end each other's. */
export type FlowName = { kind: "oidc" | "passkey"; id: string };

const LASTS_MS = 10 * 60_000;
/** Where only the SHA-256 of what the browser has in its cookie is kept. */
type StoredFlow = { browser: string; value: unknown };

/** Where a browser comes back from the provider, and where that ends sessions here. */
export const CALLBACK_PATH = "/portal/oidc/callback";
export const SIGNED_OUT_PATH = "/portal/signed-out";
export const LOGOUT_PATH = "/portal/oidc/logout";

export const FLOW_SECONDS = LASTS_MS / 1000;

/** In the name of its cookie: a browser may have begun several. */
export function flowName({ kind, id }: FlowName): string {
  return `${kind}-${hash("sha256", id).slice(0, 16)}`;
}

/** Returns the cookie's value. `value`: plain JSON. */
export async function beginFlow({ secrets, clock }: Deps, name: FlowName, value: unknown): Promise<string> {
  const cookie = randomBytes(32).toString("base64url");
  const stored: StoredFlow = { browser: hash("sha256", cookie), value };
  const expiresAt = new Date(clock().getTime() + LASTS_MS).toISOString();
  await secrets.put(flowSecret(name), { value: stored, expiresAt });
  return cookie;
}

/**
 * Undefined for one that another browser began, that was used already, or that is too old; in another browser it stays, so that
 * nobody can spend it for its owner.
 */
export async function endFlow<T>(
  { secrets, clock }: Deps,
  name: FlowName,
  cookie: string | undefined,
): Promise<T | undefined> {
  const stored = (await secrets.get(flowSecret(name), clock())) as StoredFlow | undefined;
  if (!stored || cookie === undefined) return undefined;
  if (!timingSafeEqual(Buffer.from(stored.browser), Buffer.from(hash("sha256", cookie)))) return undefined;
  const flow = (await secrets.take(flowSecret(name), clock())) as StoredFlow | undefined;
  return flow?.value as T | undefined;
}

function flowSecret({ kind, id }: FlowName): string {
  return `sign-in-flow/${kind}/${hash("sha256", id)}`;
}
