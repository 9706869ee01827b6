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
  return async (url) => {
    if (await listed(url.hostname)) return "unsafe";
    if (!safeBrowsingKey) return "safe";
    try {
      return (await hasThreats(options.safeBrowsingUrl ?? GOOGLE, safeBrowsingKey, url)) ? "unsafe" : "safe";
    } catch (error) {
      log.warn({ err: error, host: url.hostname }, "Safe Browsing is unavailable: URL not checked");
      return "unknown";
    }
  };
}

async function hasThreats(endpoint: string, key: string, url: URL): Promise<boolean> {
  const threatInfo = {
    threatTypes: THREATS,
    platformTypes: ["ANY_PLATFORM"],
    threatEntryTypes: ["URL"],
    threatEntries: [{ url: url.href }],
  };
  const response = await fetch(endpoint, {
    method: "POST",
    headers: { "content-type": "application/json", "x-goog-api-key": key },
    body: JSON.stringify({ client: { clientId: "linkledger", clientVersion: "1" }, threatInfo }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`Safe Browsing answered ${response.status}`);
  const body = (await response.json()) as { matches?: unknown[] };
  return (body.matches?.length ?? 0) > 0;
}
