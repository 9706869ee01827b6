// Parses the Referer header: the page's URL without its query, which may hold private data, and its host to count by.
import { cleanText } from "./clean-text.ts";

export type Referrer = { referrer: string; referrerHost: string };

const DIRECT = "direct";
const MAX_LENGTH = 512;
const none: Referrer = { referrer: "", referrerHost: DIRECT };

/**
 * `referrer`: without credentials, query and fragment, at most 512 characters. `referrerHost`: lower case without
 * `www.`, or the package name of android-app://; `direct` when the header is missing or no web or app address.
 */
export function referrerOf(header: string): Referrer {
  const url = URL.parse(header.trim());
  if (!url?.host) return none;
  if (url.protocol !== "http:" && url.protocol !== "https:" && url.protocol !== "android-app:") return none;
  const host = url.hostname
    .toLowerCase()
    .replace(/^www\.(?=.)/, "")
    .replace(/\.$/, "");
  if (host === "") return none;
  return {
    referrer: cleanText(`${url.protocol}//${url.host}${url.pathname}`, MAX_LENGTH),
    referrerHost: cleanText(host, MAX_LENGTH),
  };
}
