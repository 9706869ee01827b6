// The requests of the load generator, the same ones at every run, so that rounds can be compared.
import { mixedUserAgents, pick } from "./user-agents.ts";

export const LINKS = 10_000;
const USER_AGENTS = 1000;
const CLIENTS = 100_000;

const REFERRERS = [
  "https://www.google.com/",
  "https://t.co/",
  "https://www.facebook.com/",
  "https://news.ycombinator.com/item?id=1",
  "https://www.reddit.com/r/programming/",
  "https://mail.example.com/inbox",
  "https://duckduckgo.com/",
];
const LANGUAGES = ["en-US,en;q=0.9", "de-DE,de;q=0.9", "fr-FR,fr;q=0.8", "pt-BR,pt;q=0.9", "ja-JP,ja;q=0.9"];

export type PooledRequest = { path: string; headers: Record<string, string> };

/** Slugs of the links that the benchmark creates, seven characters each. */
export function benchSlug(link: number): string {
  return `b${link.toString().padStart(6, "0")}`;
}

/**
 * One connection's share of 100,000 requests: each with another client address, a third with a referrer, half of them
 * for a hundredth of the links.
 */
export function requestsOf(connection: number, connections: number, links = LINKS): PooledRequest[] {
  const agents = mixedUserAgents(USER_AGENTS);
  const share = Math.floor(CLIENTS / connections);
  return Array.from({ length: share }, (_, i) => {
    const n = scatter(connection * share + i);
    const headers: Record<string, string> = {
      "user-agent": pick(agents, n),
      "x-forwarded-for": publicAddress(n),
      "accept-language": pick(LANGUAGES, n),
    };
    if (n % 3 === 0) headers.referer = pick(REFERRERS, n);
    return { path: `/${benchSlug(popular(n, links))}`, headers };
  });
}

/** A distinct public IPv4 address for each n below 100,000, in networks of many countries. */
function publicAddress(n: number): string {
  const first = [5, 31, 46, 62, 78, 82, 89, 91, 101, 110, 121, 133, 151, 177, 186, 190, 200, 203, 212, 217];
  return `${first[n % first.length]}.${(n >> 8) % 250}.${n % 251}.${1 + (Math.floor(n / 251) % 250)}`;
}

/** Half of the visits go to a hundredth of the links. */
function popular(n: number, links: number): number {
  return (n >>> 1) % (n % 2 === 0 ? links / 100 : links);
}

/** A bijection on numbers below 2 ** 32, so that neighbours in the pool differ in all properties. */
function scatter(n: number): number {
  return Math.imul(n, 2_654_435_761) >>> 0;
}
