// The demo's visits, the same at every run: links, user agents, addresses, referrers and campaigns.
import { bots, desktops, mobiles, pick, tablets } from "../load/visitors.ts";

export type Visit = { link: number; method: "GET" | "HEAD"; query: string; headers: Record<string, string> };

/** Public resolvers and university networks, whose countries are well known. */
const ADDRESSES = [
  "8.8.8.8",
  "129.132.19.216",
  "141.84.44.40",
  "193.51.224.1",
  "131.111.150.25",
  "133.11.0.1",
  "200.144.248.41",
  "128.100.166.120",
  "130.237.28.40",
  "150.203.1.10",
  "103.27.9.1",
  "196.25.1.1",
  "2001:4860:4860::8888",
  "168.126.63.1",
  "147.83.2.135",
];

const REFERRERS = [
  "",
  "https://www.google.com/",
  "https://t.co/a1b2",
  "",
  "https://www.linkedin.com/feed/",
  "https://news.ycombinator.com/",
  "https://mail.example.com/inbox?folder=1",
];

const CAMPAIGNS = [
  "",
  "utm_source=newsletter&utm_medium=email&utm_campaign=spring",
  "utm_source=poster&utm_medium=print&utm_campaign=spring",
  "",
  "utm_source=social&utm_medium=post&utm_content=video",
];

/** `count` visits to `links` links; the first link gets about half. */
export function visits(count: number, links: number): Visit[] {
  return Array.from({ length: count }, (_, i) => {
    const headers: Record<string, string> = {
      "user-agent": userAgent(i),
      "x-forwarded-for": pick(ADDRESSES, i * 7 + (i >> 4)),
    };
    const referrer = pick(REFERRERS, i * 3 + (i >> 3));
    if (referrer) headers.referer = referrer;
    const qr = i % 9 === 4;
    const query = [qr ? "qr=1" : "", pick(CAMPAIGNS, i + (i >> 2))].filter(Boolean).join("&");
    return { link: i % 2 === 0 ? 0 : i % links, method: i % 31 === 7 ? "HEAD" : "GET", query, headers };
  });
}

/** Of twenty: ten phones, six desktops, two tablets, two crawlers. */
function userAgent(i: number): string {
  const turn = (i * 7) % 20;
  if (turn < 10) return pick(mobiles, i * 13);
  if (turn < 16) return pick(desktops, i * 11);
  return turn < 18 ? pick(tablets, i * 5) : pick(bots, i);
}
