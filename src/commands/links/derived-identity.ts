// Ids and slugs that follow from a scope, so that a request repeated after a crash finds what it already made.
// An id opens nothing and may be worked out by who knows its parts; a slug may not.
import { createHash, createHmac, hkdfSync } from "node:crypto";
import { slugFrom } from "./slug.ts";

/** A UUID of version 8 (RFC 9562, section 5.8) from the SHA-256 of the parts; the same parts, the same id. */
export function derivedId(...parts: readonly (string | number)[]): string {
  const bytes = digest(parts).subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** A slug like a random one for each scope and attempt; the same for the same. */
export type DeriveSlug = (scope: string, attempt: number) => string;

/**
 * HMAC-SHA256 under a key of its own (HKDF, RFC 5869, from SECRET_KEY): a plain hash would let whoever knows all parts
 * of a scope, as the sender of a form does, try scopes until the slug is the one wanted.
 */
export function slugDerivation(secretKey: string): DeriveSlug {
  const key = Buffer.from(hkdfSync("sha256", secretKey, "", "linkledger: derived slugs", 32));
  return (scope, attempt) => {
    for (let round = 0; ; round++) {
      const slug = slugFrom(
        createHmac("sha256", key)
          .update(text([round, scope, attempt]))
          .digest(),
      );
      if (slug) return slug;
    }
  };
}

function digest(parts: readonly (string | number)[]): Buffer {
  return createHash("sha256").update(text(parts)).digest();
}

/** JSON, so that ("a", "bc") and ("ab", "c") differ. */
function text(parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}
