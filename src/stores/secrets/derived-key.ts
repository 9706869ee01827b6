// Keys of their own for each purpose, so that what one signs or hides is of no use for another.
import { hkdfSync } from "node:crypto";

/**
 * From SECRET_KEY, the same in every process: HKDF with SHA-256 and without salt (RFC 5869). `purpose`: never changes, as
 * the key would, too.
 */
export function derivedKey(secretKey: string, purpose: string, bytes = 32): Buffer {
  return Buffer.from(hkdfSync("sha256", secretKey, "", purpose, bytes));
}
