// Hashes a visitor into a code for daily uniques; it cannot be traced back once the day's salt is destroyed.
import { hash } from "node:crypto";
import { memoize } from "../../../runtime/memoize.ts";

/** `of`: what visitors are counted by, a link's key or an account's id. */
export type VisitorFacts = { address: string; userAgent: string; of: string };
/** 16 hex characters, the same for the same address, user agent and `of` under one salt. */
export type VisitorOf = (visit: VisitorFacts) => string;

export const SALT_BYTES = 32;
const AGENTS = 10_000;

/**
 * SHA-256 of the salt and the user agent is the key of a SHA-256 over address and `of`, truncated to 64 bits. Both keys
 * have a fixed length, and neither an address nor `of` has a line break, so no two visits are hashed as the same text.
 * HMAC would only prevent length extension, which needs the full digest. Keys are kept by user agent: hashing its text
 * for each code would double the cost.
 * @throws RangeError unless the salt has 32 bytes
 */
export function visitorCodes(salt: Uint8Array): VisitorOf {
  if (salt.length !== SALT_BYTES) throw new RangeError(`The salt must have ${SALT_BYTES} bytes`);
  const saltText = Buffer.from(salt).toString("base64");
  const keyOf = memoize(AGENTS, (userAgent: string) => hash("sha256", saltText + userAgent, "base64"));
  let agent = "";
  let key = keyOf("");
  return ({ address, userAgent, of }) => {
    if (userAgent !== agent) {
      agent = userAgent;
      key = keyOf(userAgent);
    }
    return hash("sha256", `${key}${address}\n${of}`, "hex").slice(0, 16);
  };
}
