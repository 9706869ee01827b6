// Hashes a visitor into a code for daily uniques; it cannot be traced back once the day's salt is destroyed.
import { hash } from "node:crypto";

/** `of`: what visitors are counted by, a link's key or an account's id. */
export type VisitorFacts = { address: string; userAgent: string; of: string };
/** 16 hex characters, the same for the same address, user agent and `of` under one salt. */
export type VisitorOf = (visit: VisitorFacts) => string;

const SALT = 32;

/**
 * SHA-256 over the salt and the facts, truncated to 64 bits. HMAC is not needed: it prevents length extension, which
 * needs the full digest. Each hit takes two codes; a one-shot hash of so short a text takes 2 microseconds.
 * @throws RangeError unless the salt has 32 bytes
 */
export function visitorCodes(salt: Uint8Array): VisitorOf {
  if (salt.length !== SALT) throw new RangeError(`The salt must have ${SALT} bytes`);
  const text = Buffer.alloc(SALT + 8192);
  text.set(salt);
  return ({ address, userAgent, of }) => {
    const written = text.write(`${address}\n${userAgent}\n${of}`, SALT);
    return hash("sha256", text.subarray(0, SALT + written), "hex").slice(0, 16);
  };
}
