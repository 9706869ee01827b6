// Which URLs can be shortened: http(s) without credentials, not this service itself, not known as unsafe.
import { Refused } from "../refusals.ts";

/** After normalisation; the API's texts say it in words. */
export const MAX_URL_LENGTH = 8_192;
/** The most characters of it that a refusal repeats. */
const LONGEST_SCHEME = 20;
/** A URL pasted behind `https://`: it would be parsed as a host named `https`. */
const TWO_SCHEMES = /^(https?):[\\/]*(https?)(?::[\\/]|[\\/]{2})/i;

/** `unknown`: the remote check is unavailable. */
type Safety = "safe" | "unsafe" | "unknown";

/** One answer for each URL, in their order, by one request to the remote check for each 500 URLs. */
export type UrlSafety = (urls: readonly URL[]) => Promise<readonly Safety[]>;

/** `isChecked`: false when it was accepted while the remote safety check was unavailable. */
type AcceptedUrl = { longUrl: string; isChecked: boolean };

export type AcceptUrlDeps = {
  baseUrl: string;
  baseHost: string;
  urlSafety: UrlSafety;
};

/**
 * Returns the URL to store: as given when it is printable ASCII, else normalised (WHATWG URL), so that it is safe in a
 * header. `ownHosts`: the caller's verified domains, on any tier, refused as redirect loops.
 * @throws invalid_url, unsafe_url
 */
export async function acceptUrl(
  deps: AcceptUrlDeps,
  pasted: string,
  ownHosts: readonly string[],
): Promise<AcceptedUrl> {
  const text = withoutInvisible(pasted);
  const url = await validUrl(deps, text, ownHosts);
  const safety = await safetyOf(deps, url);
  if (safety === "unsafe") throw new Refused("unsafe_url");
  const isPlain = text.length <= MAX_URL_LENGTH && /^https?:\/\/[!-[\]-~]+$/i.test(text);
  return { longUrl: isPlain ? text : url.href, isChecked: safety === "safe" };
}

/** What acceptUrl finds out before it asks whether the URL is safe. @throws invalid_url */
async function validUrl(
  deps: Pick<AcceptUrlDeps, "baseUrl" | "baseHost">,
  text: string,
  ownHosts: readonly string[],
): Promise<URL> {
  const url = parseUrl(text);
  if (isThisService(deps, url)) throw invalidUrl("it points back to this service");
  if (ownHosts.includes(nameOf(url))) throw invalidUrl("it points back to your own short links");
  return url;
}

/**
 * Asks about those of the URLs that are valid in one request, each once; what is returned answers from that. Those
 * that are not are refused later, with their reason.
 */
export async function safetyOfAll(
  deps: AcceptUrlDeps,
  pasted: readonly string[],
  ownHosts: readonly string[],
): Promise<UrlSafety> {
  const urls = new Map<string, URL>();
  for (const text of pasted) {
    const url = await validUrl(deps, text, ownHosts).catch(() => undefined);
    if (url) urls.set(url.href, url);
  }
  const answers = urls.size > 0 ? await deps.urlSafety([...urls.values()]) : [];
  const byHref = new Map([...urls.keys()].map((href, n) => [href, answers[n]]));
  return async (asked) => asked.map(({ href }) => byHref.get(href) ?? "unknown");
}

export async function safetyOf(deps: Pick<AcceptUrlDeps, "urlSafety">, url: URL): Promise<Safety> {
  const [safety = "unknown"] = await deps.urlSafety([url]);
  return safety;
}

/** Zero-width characters come along when a URL is copied out of a page or a chat. */
function withoutInvisible(pasted: string): string {
  return pasted.replace(/^[\u200b-\u200f\u2060\ufeff\u00ad]+|[\u200b-\u200f\u2060\ufeff\u00ad]+$/g, "");
}

function parseUrl(pasted: string): URL {
  const text = withoutInvisible(pasted);
  if (/[\s\p{Cc}\p{Zl}\p{Zp}]/u.test(text) || !text.isWellFormed())
    throw invalidUrl("without spaces or control characters");
  const [, first, second] = TWO_SCHEMES.exec(text) ?? [];
  if (first && second) throw invalidUrl(`it begins with two schemes, ${first} and ${second}`);
  const url = URL.parse(text);
  if (url && url.protocol !== "http:" && url.protocol !== "https:")
    throw invalidUrl(`not ${url.protocol.slice(0, LONGEST_SCHEME)}`);
  if (!url || nameOf(url) === "") throw invalidUrl();
  if (url.username !== "" || url.password !== "") throw invalidUrl("without user name or password");
  if (url.href.length > MAX_URL_LENGTH) throw invalidUrl(`at most ${MAX_URL_LENGTH} characters long`);
  return url;
}

/** With a loopback BASE_URL, every loopback name with the same port is this service; other local ports are not. */
export function isThisService(deps: Pick<AcceptUrlDeps, "baseUrl" | "baseHost">, url: URL): boolean {
  const base = new URL(deps.baseUrl);
  if (isLoopback(nameOf(base))) return isLoopback(nameOf(url)) && portOf(url) === portOf(base);
  return nameOf(url) === deps.baseHost;
}

/** The URL parser has already normalised 127.1, 0x7f.1 and the like to dotted decimal. */
export function isLoopback(hostname: string): boolean {
  if (hostname === "localhost" || hostname.endsWith(".localhost")) return true;
  return /^(127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])$/.test(hostname);
}

function nameOf(url: URL): string {
  return url.hostname.replace(/\.$/, "");
}

function portOf(url: URL): string {
  return url.port || (url.protocol === "https:" ? "443" : "80");
}

function invalidUrl(reason?: string): Refused {
  const why = reason ? ` (${reason})` : "";
  return new Refused("invalid_url", `Invalid URL: please provide a valid HTTP/HTTPS URL${why}`);
}
