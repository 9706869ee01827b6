// What a slug may be: custom ones as the interface (part 4) says, random ones from letters nobody mixes up.
import { InvalidSlug } from "./link-errors.ts";

/** Lower case without i, l, o and the digits 0 and 1: 31^7 is about 27,500 million slugs. */
export const SLUG_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";
export const SLUG_LENGTH = 7;

/**
 * First path segments of the service's own routes on the base host: the command issues none of them there, the router
 * redirects none. test/api/reserved-words.test.ts compares them with the routes that exist.
 */
export const RESERVED_WORDS: ReadonlySet<string> = new Set([
  "api",
  "docs",
  "favicon.ico",
  "health",
  "internal",
  "metrics",
  "openapi.json",
  "portal",
  "robots.txt",
]);

/** `/health/live` and `/health/ready` answer on every host; on a custom domain all other words are its owner's. */
const RESERVED_ON_CUSTOM_DOMAINS = "health";

/**
 * A custom slug in lower case (interface, part 4: 3 to 50 of a-z, A-Z, 0-9, hyphen, underscore).
 * @throws InvalidSlug
 */
export function acceptCustomSlug(given: string): string {
  if (given.length < 3 || given.length > 50) throw new InvalidSlug("it must have 3 to 50 characters");
  if (!/^[A-Za-z0-9_-]+$/.test(given))
    throw new InvalidSlug("only letters a-z, digits, hyphens and underscores are allowed");
  const slug = given.toLowerCase();
  if (slug === RESERVED_ON_CUSTOM_DOMAINS) throw new InvalidSlug(`${slug} is reserved`);
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
    if (slug.length === SLUG_LENGTH) return RESERVED_WORDS.has(slug) ? undefined : slug;
  }
  return undefined;
}
