// Whether two URLs are the same address, however their characters are written (RFC 3986, 6.2.2).

/** What no URI may hold as it is, and a percent sign that begins no code. */
const NOT_OF_A_URI = /[^!-~]|["<>\\^`{|}]|%(?![\da-f]{2})/giu;
const CODE = /%[\da-f]{2}/gi;
const UNRESERVED = /[\w.~-]/;

/**
 * Equal for URLs that are the same address: case and script of the host, a default port, an empty path, dot segments, the
 * case of percent codes, and codes of characters that need none make no difference. What is no URL is only equal to itself.
 */
export function comparableUrl(text: string): string {
  const url = URL.parse(text);
  if (!url) return text;
  return url.href.replace(NOT_OF_A_URI, encodeURIComponent).replace(CODE, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return UNRESERVED.test(character) ? character : code.toUpperCase();
  });
}
