// Whether two URLs are the same address, however their characters are written (RFC 3986, 6.2.2).
import { locationOf } from "./location.ts";

const CODE = /%[\da-f]{2}/gi;
const UNRESERVED = /[\w.~-]/;

/**
 * Equal for URLs that are the same address: case and script of the host, a default port, an empty path, dot segments, the
 * case of percent codes, codes of characters that need none, and characters that need one make no difference. What is no URL
 * is only equal to itself.
 */
export function comparableUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  return locationOf(text).replace(CODE, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return UNRESERVED.test(character) ? character : code.toUpperCase();
  });
}
