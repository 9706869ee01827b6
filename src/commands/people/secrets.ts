// What is kept of a person, and nowhere in the log: the names of these secrets.
import { hash } from "node:crypto";

/** The person's e-mail address, a string; empty for who has none, and signs in at a provider. */
export const emailSecret = (personId: string) => `email/${personId}`;

/** The id of the person with an e-mail address, named by the digest of the address. */
export const personByEmailSecret = (email: string) =>
  `account-by-email/${hash("sha256", normalEmail(email))}`;

/** The address of which a mail has reached the person, as normalEmail; it may be another one than theirs by now. */
export const provenEmailSecret = (personId: string) => `email-proven/${personId}`;

/** How the person wants to be called, a string. */
export const nameSecret = (personId: string) => `name/${personId}`;

/** The person's password hash. */
export const passwordSecret = (personId: string) => `password/${personId}`;

/** What somebody is at a provider; with an empty `identityId`, the prefix of all of theirs. */
export const identitySecret = (personId: string, identityId: string) => `identity/${personId}/${identityId}`;

/** The person and the identity, named by the digest of issuer and subject. */
export const personByIdentitySecret = (digest: string) => `person-by-identity/${digest}`;

/** The claims that a provider sent last, of whomever, for the operator to look at. */
export const LAST_CLAIMS_SECRET = "last-claims";

/** A portal session; with an empty `sessionId`, the prefix of all of the person's sessions. */
export const sessionSecret = (personId: string, sessionId: string) => `${SESSIONS}${personId}/${sessionId}`;

export const SESSIONS = "session/";

/** A browser that the person signed in with before; with an empty `deviceId`, the prefix of all of them. */
export const deviceSecret = (personId: string, deviceId: string) => `device/${personId}/${deviceId}`;

/**
 * The form in which addresses are compared and looked up. Mail servers may distinguish addresses that are equal here
 * (U+212A, the Kelvin sign, lower-cases to k), so mail is sent to the address as it is stored, never as it was typed in.
 */
export function normalEmail(email: string): string {
  return email.trim().normalize("NFC").toLowerCase();
}
