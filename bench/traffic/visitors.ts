// The visitors that benchmarks send: 100,000 addresses with 1,000 user agents, the same ones at every run.
import { mixedUserAgents, pick } from "./user-agents.ts";

const USER_AGENTS = 1000;
export const VISITORS = 100_000;

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
const NETWORKS = [5, 31, 46, 62, 78, 82, 89, 91, 101, 110, 121, 133, 151, 177, 186, 190, 200, 203, 212, 217];

export type Visitor = { address: string; userAgent: string; language: string; referrer: string };

/** All visitors; a third of them come from another site. */
export function visitors(): Visitor[] {
  const agents = mixedUserAgents(USER_AGENTS);
  return Array.from({ length: VISITORS }, (_, visitor) => {
    const n = scatter(visitor);
    return {
      address: publicAddress(n),
      userAgent: pick(agents, n),
      language: pick(LANGUAGES, n),
      referrer: n % 3 === 0 ? pick(REFERRERS, n) : "",
    };
  });
}

/** A public IPv4 address, in networks of many countries. */
function publicAddress(n: number): string {
  return `${NETWORKS[n % NETWORKS.length]}.${(n >> 8) % 250}.${n % 251}.${1 + (Math.floor(n / 251) % 250)}`;
}

/** A bijection on numbers below 2 ** 32, so that neighbours differ in all properties. */
function scatter(n: number): number {
  return Math.imul(n, 2_654_435_761) >>> 0;
}
