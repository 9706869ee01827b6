// Ids and slugs that follow from a scope, so that a request repeated after a crash finds what it already made.
import { createHash } from "node:crypto";
import { slugFrom } from "./slug.ts";

/** A UUID of version 8 (RFC 9562, section 5.8) from the SHA-256 of the parts; the same parts, the same id. */
export function derivedId(...parts: readonly (string | number)[]): string {
  const bytes = digest(parts).subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** A slug like a random one; its scope must hold something that others can't guess, such as a key id. */
export function derivedSlug(...parts: readonly (string | number)[]): string {
  for (let round = 0; ; round++) {
    const slug = slugFrom(digest(["slug", round, ...parts]));
    if (slug) return slug;
  }
}

/** Length-prefixed by JSON, so that ("a", "bc") and ("ab", "c") differ. */
function digest(parts: readonly (string | number)[]): Buffer {
  return createHash("sha256").update(JSON.stringify(parts)).digest();
}
