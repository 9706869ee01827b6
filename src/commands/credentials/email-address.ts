// Which e-mail addresses are accepted, and when two of them are equal.
import { Refused } from "../../runtime/refused.ts";

/** RFC 5321 length limits and one `@`; whether the mailbox exists is not checked. @throws invalid_email */
export function acceptEmail(given: string): string {
  const email = given.trim();
  if (email.length > 254 || !/^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]+$/u.test(email))
    throw new Refused("invalid_email");
  return email;
}

/**
 * The form in which addresses are compared and looked up: trimmed, NFC, lower case. Not NFKC, which would also fold
 * full-width letters and ligatures. Mail servers may distinguish addresses that are equal here (U+212A, the Kelvin
 * sign, lower-cases to k), so mail is sent to the address as it is stored, never to the one that was typed in.
 */
export function normalEmail(email: string): string {
  return email.trim().normalize("NFC").toLowerCase();
}
