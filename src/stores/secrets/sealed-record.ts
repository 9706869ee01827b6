// The stored form of one secret: its record name and its encrypted text.
import type { Keyring } from "./keyring.ts";

/** Prefixes of keys whose rest is replaced by a keyed hash, as guesses could be tried against a plain hash. */
const HASHED_NAMES = ["account-by-email/"];

/** The record names of a key: the current one, then those under previous SECRET_KEYs. */
export function namesOf(keyring: Keyring, key: string): [current: string, ...earlier: string[]] {
  const prefix = HASHED_NAMES.find((hashed) => key.startsWith(hashed));
  if (prefix === undefined) return [key];
  const [current, ...earlier] = keyring.hashes(key);
  return [`${prefix}${current}`, ...earlier.map((hash) => `${prefix}${hash}`)];
}

/** Contains the key too, as it can't be recovered from a hashed name. */
export function sealedValue(keyring: Keyring, name: string, key: string, value: unknown): string {
  return keyring.seal(name, JSON.stringify([key, value]));
}

/** @throws secret_key_unknown, SecretDamaged */
export function openedValue(
  keyring: Keyring,
  name: string,
  stored: unknown,
): { key: string; value: unknown } {
  const [key, value] = JSON.parse(keyring.open(name, stored)) as [string, unknown];
  return { key, value };
}
