// Which e-mail addresses are taken, and when two of them are the same.
import { InvalidEmail } from "../account/account-errors.ts";

/** RFC 5321 limits and one `@`; whether mail arrives is not ours to know. @throws InvalidEmail */
export function acceptEmail(given: string): string {
  const email = given.trim();
  if (email.length > 254 || !/^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]+$/u.test(email)) throw new InvalidEmail();
  return email;
}

/**
 * The one form by which addresses are compared and looked up: trimmed, NFC, lower case. Not NFKC, which also makes one
 * of full-width letters and ligatures. Mail servers tell more addresses apart than this does (U+212A, the Kelvin sign,
 * becomes a k), so mail goes to the address as it is stored, never to a spelling that merely compares equal.
 */
export function normalEmail(email: string): string {
  return email.trim().normalize("NFC").toLowerCase();
}
