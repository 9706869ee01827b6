// Checks a URL against the operator's list of unsafe hosts, then Google Safe Browsing. Links that were accepted
// while that was unavailable are kept as secrets until jobs/url-rechecks.ts has checked them.
import { hash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import type { Secrets } from "../../stores/secrets/port.ts";
import type { UrlSafety } from "./accept-url.ts";

type Log = { warn: (details: object, message: string) => void };

type UrlSafetyOptions = {
  unsafeHostsFile?: string | undefined;
  safeBrowsingKey?: string | undefined;
  /** Endpoint of threatMatches:find (v4); Google's by default. */
  safeBrowsingUrl?: string | undefined;
  log: Log;
};

const GOOGLE = "https://safebrowsing.googleapis.com/v4/threatMatches:find";
const TIMEOUT_MS = 2000;
/** In one request to Safe Browsing; a bulk request with rules may have more. */
const MOST_URLS = 500;
const THREATS = ["MALWARE", "SOCIAL_ENGINEERING", "UNWANTED_SOFTWARE", "POTENTIALLY_HARMFUL_APPLICATION"];

/** `unknown` when Safe Browsing is unavailable, which is logged: shortening must not depend on it. */
export function urlSafety(options: UrlSafetyOptions): UrlSafety {
  const { unsafeHostsFile, safeBrowsingKey, log } = options;
  const listed = unsafeHostsFile ? unsafeHosts(unsafeHostsFile, log) : async () => false;
  /** Undefined when it is unavailable. */
  const threatsAmong = async (urls: readonly URL[]): Promise<ReadonlySet<string> | undefined> => {
    if (!safeBrowsingKey || urls.length === 0) return new Set();
    try {
      const threats = new Set<string>();
      for (let start = 0; start < urls.length; start += MOST_URLS) {
        const some = urls.slice(start, start + MOST_URLS);
        for (const href of await findThreats(options.safeBrowsingUrl ?? GOOGLE, safeBrowsingKey, some))
          threats.add(href);
      }
      return threats;
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

/** Matches listed hosts and their subdomains. While the file can't be read, the last list stays in use. */
function unsafeHosts(file: string, log: Log): (hostname: string) => Promise<boolean> {
  let hosts: ReadonlySet<string> = new Set();
  let version: string | undefined;
  const refresh = async () => {
    try {
      const { mtimeMs, size, ino } = await stat(file);
      const current = `${mtimeMs}/${size}/${ino}`;
      if (current === version) return;
      hosts = parseHosts(await readFile(file, "utf8"));
      version = current;
    } catch (error) {
      if (version !== "unreadable") log.warn({ err: error, file }, "the list of unsafe hosts can't be read");
      version = "unreadable";
    }
  };
  return async (hostname) => {
    await refresh();
    const labels = hostname.toLowerCase().replace(/\.$/, "").split(".");
    return labels.some((_, index) => hosts.has(labels.slice(index).join(".")));
  };
}

/** Accepts hosts-file lines (`0.0.0.0 a.example b.example`), lists of hosts and `*.a.example`; `#` starts a comment. */
function parseHosts(text: string): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const line of text.split(/\r?\n/)) {
    const words = line.replace(/#.*/, "").trim().split(/\s+/).filter(Boolean);
    const names = words.length > 1 && isIP(words[0] ?? "") ? words.slice(1) : words;
    for (const name of names) {
      const host = isIP(name) === 6 ? `[${name}]` : domainToASCII(name.replace(/^\*\.|\.$/g, ""));
      // Names without a dot are the machine's own entries of a hosts file, such as localhost and broadcasthost.
      if (host.includes(".") || host.startsWith("[")) hosts.add(host.toLowerCase());
    }
  }
  for (const own of ["localhost.localdomain", "0.0.0.0", "[::1]", "127.0.0.1"]) hosts.delete(own);
  return hosts;
}

/**
 * `since`: ISO 8601 UTC. `longUrl`: the unchecked URL; the link may have been retargeted since, or never been created.
 */
export type UrlRecheck = { host: string; slug: string; longUrl: string; since: string };

/** Called before the append, so that a crash in between leaves a recheck without a link, not an unchecked link. */
export type RecheckLater = (link: Omit<UrlRecheck, "since">) => Promise<void>;

type Deps = { secrets: Secrets; clock: () => Date };

const PREFIX = "url-check:";

export function recheckLater({ secrets, clock }: Deps): RecheckLater {
  return async (link) => {
    const since = clock().toISOString();
    await secrets.put(keyOf(link), { value: { ...link, since } satisfies UrlRecheck });
  };
}

export async function waitingRechecks({ secrets, clock }: Deps): Promise<UrlRecheck[]> {
  return (await secrets.list(PREFIX, clock())).map(({ value }) => value as UrlRecheck);
}

export async function forgetRecheck({ secrets }: Pick<Deps, "secrets">, recheck: UrlRecheck): Promise<void> {
  await secrets.delete(keyOf(recheck));
}

/** Includes the URL, so that the result for an earlier URL does not settle the recheck of a later one. */
function keyOf({ host, slug, longUrl }: Omit<UrlRecheck, "since">): string {
  return `${PREFIX}${host}/${slug}/${hash("sha256", longUrl).slice(0, 32)}`;
}
