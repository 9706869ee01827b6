// Rules for slugs: custom ones by the interface, part 4; random ones from an unambiguous alphabet.
import { Refused } from "../refusals.ts";

/** Lower case without i, l, o and the digits 0 and 1. With SLUG_LENGTH that is 31^7, about 2.75 * 10^10 slugs. */
export const SLUG_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";
export const SLUG_LENGTH = 7;

/**
 * First path segments of the service's own routes on the base host: never issued as slugs and never redirected there.
 * test/api/reserved-words.test.ts compares them with the registered routes.
 */
export const RESERVED_WORDS: ReadonlySet<string> = new Set(
  "admin api docs favicon.ico health internal mails metrics openapi.json portal robots.txt sdk.tgz shared status".split(
    " ",
  ),
);

/** `/health/live` and `/health/ready` answer on every host; a custom domain reserves nothing else. */
const RESERVED_ON_CUSTOM_DOMAINS = "health";

/**
 * A custom slug in lower case (interface, part 4: 3 to 50 of a-z, A-Z, 0-9, hyphen, underscore), which no route of the
 * service has.
 * @throws invalid_slug
 */
export function acceptCustomSlug(text: string, onBaseHost: boolean): string {
  if (text.length < 3 || text.length > 50) throw invalidSlug("it must have 3 to 50 characters");
  if (!/^[A-Za-z0-9_-]+$/.test(text))
    throw invalidSlug("only letters a-z, digits, hyphens and underscores are allowed");
  return unreserved(text, onBaseHost);
}

/** Any slug: those of other services may be shorter and longer than those that a request may choose. */
export const SLUG = /^[A-Za-z0-9_-]{1,100}$/;

/** The slug of a link that comes from another service, in lower case. @throws invalid_slug */
export function acceptImportedSlug(text: string, onBaseHost: boolean): string {
  if (!SLUG.test(text))
    throw invalidSlug("it must have 1 to 100 letters a-z, digits, hyphens and underscores");
  return unreserved(text, onBaseHost);
}

/** @throws invalid_slug */
function unreserved(text: string, onBaseHost: boolean): string {
  const slug = text.toLowerCase();
  if (onBaseHost ? RESERVED_WORDS.has(slug) : slug === RESERVED_ON_CUSTOM_DOMAINS)
    throw invalidSlug(`${slug} is reserved`);
  return slug;
}

/**
 * A slug from random bytes; undefined when they give none or a reserved one, then the caller draws again. Rejection
 * sampling: bytes beyond the last multiple of the alphabet's length are skipped, so that every slug is equally likely.
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

function invalidSlug(reason: string): Refused {
  return new Refused("invalid_slug", `Invalid custom slug: ${reason}`);
}
