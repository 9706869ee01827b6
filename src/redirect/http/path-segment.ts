// Extracts the slug of a request: a path of one segment, without what mail programs and chats glue to an address.
/** Fast path: nearly every slug matches this and needs no percent-decoding. */
const PLAIN = /^\/([A-Za-z0-9_-]{1,50})(?:\?|$)/;
/**
 * One segment, and at most one slash after it with what may follow that. Accepts absolute-form request targets too
 * (RFC 9112, 3.2.2).
 */
const ONE_SEGMENT = /^(?:https?:\/\/[^/?#]*)?\/([^/?#]+)(\/[^/?#]*)?(?:[?#]|$)/i;
/** A slug, and behind it only characters that no slug can hold. */
const GLUED = /^([A-Za-z0-9_-]{1,100})[^A-Za-z0-9_-]+$/;

/**
 * The percent-decoded segment; of `/{slug}/`, `/{slug}.`, `/{slug})%20` and the like the slug alone, which costs
 * no second look-up, as no link has such a name. Undefined for `/`, other paths and malformed percent-encoding.
 */
export function pathSegment(url: string): string | undefined {
  const plain = PLAIN.exec(url);
  if (plain) return plain[1];
  const [, segment, behind = ""] = ONE_SEGMENT.exec(url) ?? [];
  if (segment === undefined) return undefined;
  try {
    const decoded = decodeURIComponent(segment + behind);
    return GLUED.exec(decoded)?.[1] ?? (behind === "" ? decoded : undefined);
  } catch {
    return undefined;
  }
}
