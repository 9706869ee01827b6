// Parses the Referer header: the page's URL without its query, which may hold private data.
import { cleanText } from "./clean-text.ts";

const MAX_LENGTH = 512;

/**
 * Without credentials, query and fragment, at most 512 characters; "" when the header is missing or no web or app address.
 * `referrerHostOf` (events/click-facts.ts) says which host it counts as.
 */
export function referrerOf(header: string): string {
  const url = URL.parse(header.trim());
  if (!url || url.hostname === "" || url.hostname === ".") return "";
  if (url.protocol !== "http:" && url.protocol !== "https:" && url.protocol !== "android-app:") return "";
  return cleanText(`${url.protocol}//${url.host}${url.pathname}`, MAX_LENGTH);
}
