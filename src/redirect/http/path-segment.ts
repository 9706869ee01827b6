// Extracts the slug of a request: only a path of exactly one segment can be a short link.
/** Fast path: nearly every slug matches this and needs no percent-decoding. */
const PLAIN = /^\/([A-Za-z0-9_-]{1,50})(?:\?|$)/;
/** Accepts absolute-form request targets too (RFC 9112, 3.2.2). */
const ONE_SEGMENT = /^(?:https?:\/\/[^/?#]*)?\/([^/?#]+)(?:[?#]|$)/i;

/** The percent-decoded segment; undefined for `/`, for several segments, and for malformed percent-encoding. */
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
