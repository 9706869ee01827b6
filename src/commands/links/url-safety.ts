// Checks a URL against the operator's list of unsafe hosts, then Google Safe Browsing.
import type { UrlSafety } from "./accept-url.ts";
import { unsafeHosts } from "./unsafe-hosts.ts";

export type UrlSafetyOptions = {
  unsafeHostsFile?: string | undefined;
  safeBrowsingKey?: string | undefined;
  /** Endpoint of threatMatches:find (v4); Google's by default. */
  safeBrowsingUrl?: string | undefined;
  log: { warn: (details: object, message: string) => void };
};

const GOOGLE = "https://safebrowsing.googleapis.com/v4/threatMatches:find";
const TIMEOUT_MS = 2000;
const THREATS = ["MALWARE", "SOCIAL_ENGINEERING", "UNWANTED_SOFTWARE", "POTENTIALLY_HARMFUL_APPLICATION"];

/** `unknown` when Safe Browsing is unavailable, which is logged: shortening must not depend on it. */
export function urlSafety(options: UrlSafetyOptions): UrlSafety {
  const { unsafeHostsFile, safeBrowsingKey, log } = options;
  const listed = unsafeHostsFile ? unsafeHosts(unsafeHostsFile, log) : async () => false;
  /** Undefined when it is unavailable. */
  const threatsAmong = async (urls: readonly URL[]): Promise<ReadonlySet<string> | undefined> => {
    if (!safeBrowsingKey || urls.length === 0) return new Set();
    try {
      return await findThreats(options.safeBrowsingUrl ?? GOOGLE, safeBrowsingKey, urls);
    } catch (error) {
      const hosts = [...new Set(urls.map(({ hostname }) => hostname))];
      log.warn({ err: error, hosts }, "Safe Browsing is unavailable: URLs not checked");
      return undefined;
    }
  };
  return async (urls) => {
    const isListed = await Promise.all(urls.map(({ hostname }) => listed(hostname)));
    const threats = await threatsAmong(urls.filter((_, n) => !isListed[n]));
    return urls.map(({ href }, n) => {
      if (isListed[n] || threats?.has(href)) return "unsafe";
      return threats ? "safe" : "unknown";
    });
  };
}

/** Those of the URLs that are threats. */
async function findThreats(
  endpoint: string,
  key: string,
  urls: readonly URL[],
): Promise<ReadonlySet<string>> {
  const hrefs = new Set(urls.map(({ href }) => href));
  const threatInfo = {
    threatTypes: THREATS,
    platformTypes: ["ANY_PLATFORM"],
    threatEntryTypes: ["URL"],
    threatEntries: [...hrefs].map((url) => ({ url })),
  };
  const response = await fetch(endpoint, {
    method: "POST",
    headers: { "content-type": "application/json", "x-goog-api-key": key },
    body: JSON.stringify({ client: { clientId: "linkledger", clientVersion: "1" }, threatInfo }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`Safe Browsing answered ${response.status}`);
  const { matches = [] } = (await response.json()) as { matches?: { threat?: { url?: string } }[] };
  // Where one URL was asked about, every match is of it, however the answer spells it.
  if (hrefs.size === 1) return matches.length > 0 ? hrefs : new Set();
  const threats = new Set(matches.map(({ threat }) => threat?.url ?? ""));
  if (!threats.isSubsetOf(hrefs))
    throw new Error("Safe Browsing answered about a URL that it was not asked about");
  return threats;
}
