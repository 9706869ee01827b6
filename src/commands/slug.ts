// What a slug may be: custom ones as the interface (part 4) says, random ones from letters nobody mixes up.
import { InvalidSlug } from "./link-errors.ts";

/** Lower case without i, l, o and the digits 0 and 1: 31^7 is about 27,500 million slugs. */
export const SLUG_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";
export const SLUG_LENGTH = 7;

/** First path segments that mean something on the base host; never issued as a slug. */
const RESERVED = new Set(
  "about admin api app assets billing dashboard developer developers docs favicon health help internal legal login logout metrics openapi portal pricing privacy qr robots security settings signin signup sitemap static status support swagger terms webhooks well-known www".split(
    " ",
  ),
);

/** `/health/*` and `/internal/*` answer on every host, so a custom domain can't use the words either. */
const RESERVED_ON_CUSTOM_DOMAINS = new Set(["health", "internal"]);

/**
 * A custom slug in lower case (interface, part 4: 3 to 50 of a-z, A-Z, 0-9, hyphen, underscore).
 * @throws InvalidSlug
 */
export function acceptCustomSlug(given: string): string {
  if (given.length < 3 || given.length > 50) throw new InvalidSlug("it must have 3 to 50 characters");
  if (!/^[A-Za-z0-9_-]+$/.test(given))
    throw new InvalidSlug("only letters a-z, digits, hyphens and underscores are allowed");
  const slug = given.toLowerCase();
  if (RESERVED_ON_CUSTOM_DOMAINS.has(slug)) throw new InvalidSlug(`${slug} is reserved`);
  return slug;
}

/**
 * A slug from random bytes; undefined when they don't give an unreserved one, then draw again. Bytes beyond the last
 * multiple of the alphabet are passed over, so that every slug is equally likely.
 */
export function slugFrom(bytes: Uint8Array): string | undefined {
  const fair = 256 - (256 % SLUG_ALPHABET.length);
  let slug = "";
  for (const byte of bytes) {
    if (byte < fair) slug += SLUG_ALPHABET[byte % SLUG_ALPHABET.length];
    if (slug.length === SLUG_LENGTH) return RESERVED.has(slug) ? undefined : slug;
  }
  return undefined;
}
