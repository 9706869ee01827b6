// What is kept of an account outside of its stream: the names of these secrets, and locks for use cases that read a secret
// to decide what to write elsewhere.
import { hash } from "node:crypto";
import { type RefusalCode, Refused } from "../../runtime/refused.ts";
import type { Secrets } from "../../stores/secrets/port.ts";

/** The account's e-mail address, a string. */
export const emailSecret = (accountId: string) => `email/${accountId}`;

/** The account id of an e-mail address, named by the digest of the address. */
export const accountByEmailSecret = (email: string) =>
  `account-by-email/${hash("sha256", normalEmail(email))}`;

/** The account's password hash. */
export const passwordSecret = (accountId: string) => `password/${accountId}`;

/** A portal session; with an empty `sessionId`, the prefix of all of the account's sessions. */
export const sessionSecret = (accountId: string, sessionId: string) => `session/${accountId}/${sessionId}`;

/** A browser that signed in to the account before; with an empty `deviceId`, the prefix of all of them. */
export const deviceSecret = (accountId: string, deviceId: string) => `device/${accountId}/${deviceId}`;

/** When an API key was last used; ISO 8601 UTC. */
export const keyUseSecret = (keyId: string) => `key-used/${keyId}`;

/** A pending request for the Developer plan; an object with `at`. */
export const upgradeRequestSecret = (accountId: string) => `${UPGRADE_REQUESTS}${accountId}`;

export const UPGRADE_REQUESTS = "upgrade-request/";

/**
 * The form in which addresses are compared and looked up. Mail servers may distinguish addresses that are equal here
 * (U+212A, the Kelvin sign, lower-cases to k), so mail is sent to the address as it is stored, never as it was typed in.
 */
export function normalEmail(email: string): string {
  return email.trim().normalize("NFC").toLowerCase();
}

export type LockDeps = { secrets: Secrets; clock: () => Date; newId: () => string };

/** Expiry of the lock: after a crash the name stays locked for this long. */
const LONGEST_WORK_MS = 30_000;

/** `name`: of the lock's own secret. @throws `refusal` when another process holds the lock */
export async function withLock<T>(
  { secrets, clock, newId }: LockDeps,
  name: string,
  refusal: RefusalCode,
  work: () => Promise<T>,
): Promise<T> {
  const mine = newId();
  const now = clock();
  const expiresAt = new Date(now.getTime() + LONGEST_WORK_MS).toISOString();
  if ((await secrets.putIfAbsent(name, { value: mine, expiresAt }, now)) !== mine) throw new Refused(refusal);
  try {
    return await work();
  } finally {
    // If the work outlasted the lock's expiry, another process may hold the lock by now.
    if ((await secrets.get(name, clock())) === mine) await secrets.delete(name);
  }
}
