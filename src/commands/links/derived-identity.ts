// Ids and slugs derived from an idempotency scope, so that a request repeated after a crash finds what it already
// created.
// Ids grant no access, so a plain hash is enough; slugs must not be predictable, so they take a secret key.
import { createHmac, hash } from "node:crypto";
import { derivedKey } from "../../stores/secrets/derived-key.ts";
import { slugFrom } from "./slug.ts";

/** A UUID version 8 (RFC 9562, section 5.8) from the SHA-256 of the parts; deterministic. */
export function derivedId(...parts: readonly (string | number)[]): string {
  const bytes = hash("sha256", text(parts), "buffer").subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** A pseudo-random slug; deterministic for the same scope and attempt. */
export type DeriveSlug = (scope: string, attempt: number) => string;

/**
 * HMAC-SHA256 under a key of its own (HKDF, RFC 5869, from SECRET_KEY): with a plain hash, a caller who knows all parts
 * of a scope, such as the sender of a form, could try scopes until one gives the slug they want.
 */
export function slugDerivation(secretKey: string): DeriveSlug {
  const key = derivedKey(secretKey, "linkledger: derived slugs");
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

/** JSON, so that ("a", "bc") and ("ab", "c") differ. */
function text(parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}
