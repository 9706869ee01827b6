// A month of clicks for the pictures in docs/, as an export of our own, which the service imports: the same but for its days.
import { hash } from "node:crypto";

/** Slug, title, destination, tags, and its part of the clicks. */
const LINKS = [
  ["spring", "Spring collection", "https://shop.example.com/spring", ["spring", "newsletter"], 55],
  ["poster", "Poster in the window", "https://shop.example.com/window", ["spring", "print"], 22],
  ["jobs", "We are hiring", "https://shop.example.com/jobs", ["jobs"], 14],
  ["story", "Every click is an event", "https://shop.example.com/story", ["newsletter"], 9],
] as const;

const CLIENTS = [
  ["mobile", "Mobile Safari", "iOS", 34],
  ["mobile", "Chrome Mobile", "Android", 27],
  ["desktop", "Chrome", "Windows", 19],
  ["desktop", "Safari", "macOS", 9],
  ["desktop", "Firefox", "Linux", 6],
  ["tablet", "Mobile Safari", "iOS", 5],
] as const;

const PLACES = [
  ["DE", "Berlin", "de", 31],
  ["AT", "Vienna", "de", 14],
  ["CH", "Zurich", "de", 12],
  ["FR", "Paris", "fr", 11],
  ["GB", "London", "en", 10],
  ["US", "New York", "en", 9],
  ["BR", "São Paulo", "pt", 7],
  ["JP", "Tokyo", "ja", 6],
] as const;

const REFERRERS = [
  ["", 40],
  ["https://www.instagram.com/", 24],
  ["https://www.google.com/", 18],
  ["https://www.linkedin.com/feed/", 11],
  ["https://news.ycombinator.com/", 7],
] as const;

const DAYS = 30;
const DAY_MS = 86_400_000;
const CLICKS = 2_700;
const BOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";

/** Lines of JSON: links, and their clicks until `now`. */
export function pastMonth(now: Date): string {
  const random = randomNumbers();
  const made = new Date(now.getTime() - (DAYS + 2) * DAY_MS).toISOString();
  const links = LINKS.map(([slug, title, long_url, tags]) => ({
    ...{ type: "link", domain: null, slug, long_url, status: "live", created_at: made, via: "web" },
    ...{ custom: true, options: { title, tags }, changes: [] },
  }));
  const clicks = Array.from({ length: CLICKS }, (_, n) => {
    const age = DAYS * DAY_MS * (1 - Math.sqrt(random()));
    const at = new Date(now.getTime() - age);
    // As people are awake: most in the afternoon and the evening.
    at.setUTCHours((6 + Math.floor((random() + random()) * 8.5)) % 24);
    const [slug] = drawn(LINKS, random);
    const [device, browser, os] = drawn(CLIENTS, random);
    const [country, city, language] = drawn(PLACES, random);
    const [referrer] = drawn(REFERRERS, random);
    const isScan = slug === "poster" && random() < 0.8;
    const kind = isScan ? "qr_scan" : random() < 0.1 ? "preview" : "click";
    const visitor = hash("sha256", `${Math.floor(random() * CLICKS)}`).slice(0, 16);
    return {
      ...{ type: "click", domain: null, slug, id: `demo-${n}` },
      click: {
        ...{ linkRevision: 0, kind, method: "GET", at: at < now ? at : now, ip: "192.0.2.0" },
        ...{
          country,
          city,
          language,
          referrer: isScan ? "" : referrer,
          device,
          visitor,
          accountVisitor: visitor,
        },
        ...{ userAgent: kind === "preview" ? BOT : "", browser: { name: browser, version: "1" } },
        ...{ os: { name: os, version: "1" } },
        utm: slug === "spring" ? { source: "newsletter", medium: "email", campaign: "spring" } : {},
      },
    };
  });
  const head = { type: "linkledger-export", version: 1, exported_at: now.toISOString(), base_host: "" };
  return [head, ...links, ...clicks].map((line) => JSON.stringify(line)).join("\n");
}

/** One of them, as often as its last member says. */
function drawn<T extends readonly [...unknown[], number]>(all: readonly T[], random: () => number): T {
  const weights = all.map((one) => one.at(-1) as number);
  let rest = random() * weights.reduce((sum, weight) => sum + weight);
  const index = weights.findIndex((weight) => {
    rest -= weight;
    return rest < 0;
  });
  return all[index] as T;
}

/** The same at every run (mulberry32). */
function randomNumbers(): () => number {
  let seed = 7;
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
