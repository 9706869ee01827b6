// Which requests may be for a link: those whose path is one segment.

/** What nearly every short link looks like; needs no decoding. */
const PLAIN = /^\/([A-Za-z0-9_-]{1,50})(?:\?|$)/;
/** Also of an address in absolute form (RFC 9112, 3.2.2). */
const ONE_SEGMENT = /^(?:https?:\/\/[^/?#]*)?\/([^/?#]+)(?:[?#]|$)/i;

/** The segment, percent-decoded; undefined for `/`, for more segments, and for what can't be decoded. */
export function pathSegment(url: string): string | undefined {
  const plain = PLAIN.exec(url);
  if (plain) return plain[1];
  const segment = ONE_SEGMENT.exec(url)?.[1];
  if (segment === undefined) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
