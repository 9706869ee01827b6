// Extracts slug and query of a request: a path of one segment, without what mail programs and chats glue to an address.
/** Fast path: nearly every request matches this and needs no percent-decoding. */
const PLAIN = /^\/([A-Za-z0-9_-]{1,50})(?:\?(.*))?$/;
/** Path without the slashes before it, and query; absolute-form request targets too (RFC 9112, 3.2.2). */
const TARGET = /^(?:https?:\/\/[^/?#]*)?\/+([^/?#][^?#]*)(?:\?([^#]*))?(?:#.*)?$/i;
/** A query begins behind it, which a program has taken for a part of the path. `%23` begins a fragment. */
const SEPARATOR = /&(?:amp;)?|;|%(?:3f|26|3b|23)/i;
const ONE_SEGMENT = /^[^/]+(?:\/[^/]*)?$/;
/** A slug, and behind it only characters that no slug can hold. */
const GLUED = /^([A-Za-z0-9_-]{1,100})[^A-Za-z0-9_-]+$/;
/** A byte beyond ASCII, a `%` alone, and an address that was cut inside of an encoded character. */
const MALFORMED = /%(?:[89a-f][0-9a-f]|[0-9a-f]?$|(?![0-9a-f]{2}))/gi;
const ENCODED_ASCII = /%(?:2[1-9a-f]|[3-6][0-9a-f]|7[0-9a-e])/gi;

/** `query`: raw, without `?`. */
export type SlugTarget = { slug: string; query: string };

/**
 * The percent-decoded segment and the query; of `/{slug}/`, `//{slug}`, `/{slug}.`, `/{slug})%20` and the like the slug
 * alone, which costs no second look-up, as no link has such a name; so of `/{slug}&a=b`, `/{slug};a=b` and
 * `/{slug}%3Fa=b`, whose `a=b` joins the query. Undefined for `/` and other paths.
 */
export function slugTarget(url: string): SlugTarget | undefined {
  const plain = PLAIN.exec(url);
  if (plain?.[1] !== undefined) return { slug: plain[1], query: plain[2] ?? "" };
  const [, path, query = ""] = TARGET.exec(url) ?? [];
  if (path === undefined) return undefined;
  const separator = SEPARATOR.exec(path);
  const head = separator ? path.slice(0, separator.index) : path;
  if (!ONE_SEGMENT.test(head)) return undefined;
  const decoded = decodedPath(head);
  const slug = GLUED.exec(decoded)?.[1] ?? (head.includes("/") ? undefined : decoded);
  if (slug === undefined) return undefined;
  const glued = separator ? gluedQuery(separator[0], path.slice(head.length + separator[0].length)) : "";
  return { slug, query: glued && query ? `${glued}&${query}` : glued || query };
}

/** Never throws: what is malformed becomes a character that no slug can hold. */
function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return decodeURIComponent(path.replace(MALFORMED, "\ufffd"));
  }
}

/** Empty where it doesn't look like a query. Behind an encoded separator all was encoded once more. */
function gluedQuery(separator: string, behind: string): string {
  const isEncoded = separator.startsWith("%");
  const text = isEncoded ? behind.replace(ENCODED_ASCII, (code) => decodeURIComponent(code)) : behind;
  if (separator === "%23" || !/^[^=&;]+=/.test(text)) return "";
  const parts = text.replaceAll("&amp;", "&");
  return separator === ";" || /^%3b$/i.test(separator) ? parts.replaceAll(";", "&") : parts;
}
