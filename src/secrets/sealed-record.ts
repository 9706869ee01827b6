// How one secret lies in the store: under which name, and as what text.
import type { Keyring } from "./keyring.ts";

/** Names that end in a digest of what they are looked up by: anybody could try addresses on a plain one. */
const HASHED_NAMES = ["account-by-email/"];

/** What a key's record is called in the store: now, then as earlier keys and versions called it. */
export function namesOf(keyring: Keyring, key: string): [current: string, ...earlier: string[]] {
  const prefix = HASHED_NAMES.find((hashed) => key.startsWith(hashed));
  if (prefix === undefined) return [key];
  const [current, ...earlier] = keyring.hashes(key);
  return [`${prefix}${current}`, ...earlier.map((hash) => `${prefix}${hash}`), key];
}

/** The key goes in too, as it can't be had back from a name that is a hash. */
export function sealedValue(keyring: Keyring, name: string, key: string, value: unknown): string {
  return keyring.seal(name, JSON.stringify([key, value]));
}

/** @throws SecretKeyUnknown */
export function openedValue(
  keyring: Keyring,
  name: string,
  stored: unknown,
): { key: string; value: unknown } {
  if (!keyring.isSealed(stored)) return { key: name, value: stored };
  const [key, value] = JSON.parse(keyring.open(name, stored)) as [string, unknown];
  return { key, value };
}
