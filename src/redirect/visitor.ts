// Daily uniques without tracing anybody: the salt behind a visitor's code is destroyed when the day ends.
import { hash } from "node:crypto";

export type Visit = { address: string; userAgent: string; link: string };
/** 16 hex characters, the same for the same address, user agent and link under one salt. */
export type VisitorOf = (visit: Visit) => string;

const BLOCK = 64;
const DIGEST = 32;

/**
 * HMAC-SHA256 (RFC 2104) under a salt of at most 64 bytes. Written out over one-shot hashes, which take a tenth of
 * the time of `createHmac` on such short texts; the recorder does this for every hit.
 */
export function visitorCodes(salt: Uint8Array): VisitorOf {
  if (salt.length > BLOCK) throw new RangeError("The salt must fit into one block of 64 bytes");
  const inner = Buffer.alloc(BLOCK + 8192);
  const outer = Buffer.alloc(BLOCK + DIGEST);
  for (let i = 0; i < BLOCK; i++) {
    inner[i] = (salt[i] ?? 0) ^ 0x36;
    outer[i] = (salt[i] ?? 0) ^ 0x5c;
  }
  return ({ address, userAgent, link }) => {
    const written = inner.write(`${address}\n${userAgent}\n${link}`, BLOCK);
    outer.write(hash("sha256", inner.subarray(0, BLOCK + written), "hex"), BLOCK, "hex");
    return hash("sha256", outer, "hex").slice(0, 16);
  };
}
