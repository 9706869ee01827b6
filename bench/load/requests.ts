// The requests of the load generator as HTTP/1.1 text, the same ones for the same seed.
import { visitors } from "./visitors.ts";

/** Links of a benchmark that names no other number. */
export const LINKS = 10_000;

/** Visits of links, by Zipf's law, as links in the wild are visited. */
export type Visits = { kind: "visits"; links: number };
/** Visits of slugs that nobody made. */
export type UnknownSlugs = { kind: "unknown" };
/** POST /api/v1/shorten, or `bulk` links a request, with the keys in turn. */
export type Creations = { kind: "creations"; keys: readonly string[]; bulk?: number };
export type Traffic = Visits | UnknownSlugs | Creations;

/** Slugs of the links that a benchmark creates, seven characters each. */
export function benchSlug(link: number): string {
  return `b${link.toString().padStart(6, "0")}`;
}

/** What a benchmark's link leads to. */
export function benchUrl(link: number): string {
  return `https://shop.example.com/products/${link}?utm_source=newsletter&utm_campaign=spring`;
}

/** Each call gives the next request's text. `seed`: another one gives other requests. */
export function requestsOf(traffic: Traffic, seed: number): () => string {
  const random = randomNumbers(seed);
  switch (traffic.kind) {
    case "visits": {
      const draw = zipf(traffic.links, random);
      return visitsOf(random, () => benchSlug(draw()));
    }
    case "unknown":
      return visitsOf(random, () => `u${Math.floor(random() * 36 ** 6).toString(36)}`);
    case "creations":
      return creationsOf(traffic, random);
  }
}

/** Uniform numbers in [0, 1), the same ones for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draws numbers below `count` by Zipf's law, s = 1. */
export function zipf(count: number, random: () => number): () => number {
  const upTo = new Float64Array(count);
  let sum = 0;
  for (let rank = 0; rank < count; rank++) upTo[rank] = sum += 1 / (rank + 1);
  // A prime scatters the ranks over the numbers, so that popular links were not created together.
  return () => (rankOf(upTo, random() * sum) * 1_000_003) % count;
}

/** Draws numbers below `count`, each as often. */
export function drawEvenly(count: number, random: () => number): () => number {
  return () => Math.floor(random() * count);
}

/** The first rank whose cumulative weight is above `weight`. */
function rankOf(upTo: Float64Array, weight: number): number {
  let low = 0;
  let high = upTo.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((upTo[middle] as number) > weight) high = middle;
    else low = middle + 1;
  }
  return low;
}

function visitsOf(random: () => number, slug: () => string): () => string {
  const headers = visitors().map(
    ({ address, userAgent, language, referrer }) =>
      ` HTTP/1.1\r\nhost: localhost\r\nuser-agent: ${userAgent}\r\nx-forwarded-for: ${address}\r\n` +
      `accept-language: ${language}\r\n${referrer && `referer: ${referrer}\r\n`}\r\n`,
  );
  return () => `GET /${slug()}${headers[Math.floor(random() * headers.length)]}`;
}

function creationsOf({ keys, bulk }: Creations, random: () => number): () => string {
  let next = 0;
  const link = () => ({ url: benchUrl(Math.floor(random() * 1e9)) });
  const path = bulk ? "/api/v1/shorten/bulk" : "/api/v1/shorten";
  return () => {
    const body = JSON.stringify(bulk ? { links: Array.from({ length: bulk }, link) } : link());
    return (
      `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n` +
      `x-api-key: ${keys[next++ % keys.length]}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    );
  };
}
