// Location headers that every client reads: URLs as RFC 3986 writes them. Clients in Java and Go refuse what browsers take.

/** What a URI can't hold: other characters, and a `%` that encodes nothing. */
const NOT_IN_URI = /[^\w\-.~!$&'()*+,;=:@/?#[\]%]|%(?![0-9a-f]{2})/gi;
/** Brackets in the path, and a `#` in the fragment, which URL parsers leave as they are. */
const AUTHORITY_PATH_REST = /^(https?:\/\/[^/?#]*)([^?#]*)([^#]*#?)(.*)$/is;
const BRACKETS = /[[\]]/g;

/** The URL as normalised ASCII, percent-encoded where it has to be and was not; it leads where it led before. */
export function locationOf(url: string): string {
  const href = (URL.parse(url)?.href ?? encodeURI(url.toWellFormed())).replace(NOT_IN_URI, encoded);
  return href.replace(AUTHORITY_PATH_REST, (_, authority, path, rest, fragment) =>
    [authority, path.replace(BRACKETS, encoded), rest, fragment.replace(/#/g, encoded)].join(""),
  );
}

/** Part of a query as it was sent, with a character for each byte as Node has it. */
export function queryInLocation(bytes: string): string {
  return bytes.replace(NOT_IN_URI, encoded);
}

/** One unit of UTF-16: all but Latin-1 was encoded before. */
function encoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}
