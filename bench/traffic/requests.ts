// The requests of the load generator as HTTP/1.1 text, drawn one by one, so that a million links need no memory.
import { readFileSync } from "node:fs";
import { type Draw, drawOf, randomNumbers } from "./draw.ts";
import { visitors } from "./visitors.ts";

/** Links of a benchmark that names no other number. */
export const LINKS = 10_000;

/** Visits of links. `slugs`: file with one slug a line; by default those that seed-links.ts makes. */
export type Visits = { kind: "visits"; links: number; draw: Draw; slugs?: string | undefined };
/** Visits of slugs that nobody made. */
export type UnknownSlugs = { kind: "unknown" };
/** POST /api/v1/shorten, `bulk` links a request, with the keys in turn. */
export type Creations = { kind: "creations"; keys: readonly string[]; bulk?: number | undefined };
/** The largest QR images, each another one, also in another run of the load, so that none is cached. */
export type Images = { kind: "images"; links: number };
/** GET of one path with the keys in turn. */
export type Gets = { kind: "gets"; path: string; keys: readonly string[] };
export type Traffic = Visits | UnknownSlugs | Creations | Images | Gets;

/** Slugs of the links that the benchmark creates, seven characters each. */
export function benchSlug(link: number): string {
  return `b${link.toString().padStart(6, "0")}`;
}

/** What a benchmark's link leads to. */
export function benchUrl(link: number): string {
  return `https://shop.example.com/products/${link}?utm_source=newsletter&utm_campaign=spring`;
}

/** Each call gives the next request's text. `seed`: another one gives other draws. */
export function requestsOf(traffic: Traffic, seed: number): () => string {
  const random = randomNumbers(seed);
  switch (traffic.kind) {
    case "visits": {
      const slugs = traffic.slugs && readFileSync(traffic.slugs, "utf8").trimEnd().split("\n");
      const draw = drawOf(traffic.draw, slugs ? slugs.length : traffic.links, random);
      return visitsOf(random, () => (slugs ? (slugs[draw()] as string) : benchSlug(draw())));
    }
    case "unknown":
      return visitsOf(random, () => `u${Math.floor(random() * 36 ** 6).toString(36)}`);
    case "creations":
      return creationsOf(traffic, random);
    case "images":
      return imagesOf(traffic.links, seed);
    case "gets": {
      const headersOfKey = keysInTurn(traffic.keys);
      return () => `GET ${traffic.path} HTTP/1.1\r\nhost: localhost\r\n${headersOfKey()}\r\n`;
    }
  }
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
  const headersOfKey = keysInTurn(keys);
  const link = () => ({
    url: benchUrl(Math.floor(random() * 1e9)),
  });
  const path = bulk ? "/api/v1/shorten/bulk" : "/api/v1/shorten";
  return () => {
    const body = JSON.stringify(bulk ? { links: Array.from({ length: bulk }, link) } : link());
    return (
      `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${headersOfKey()}` +
      `content-length: ${body.length}\r\n\r\n${body}`
    );
  };
}

/** Below the limit of 1,000 images an hour, after which another client address is used. */
const IMAGES_PER_ADDRESS = 500;
/** More than a run of the load requests, which has a seed of its own. */
const IMAGES_PER_SEED = 65_536;

function imagesOf(links: number, seed: number): () => string {
  let requested = seed * IMAGES_PER_SEED;
  return () => {
    requested += 1;
    const address = Math.floor(requested / IMAGES_PER_ADDRESS);
    const colour = (requested % 0xff_ff_ff).toString(16).padStart(6, "0");
    return (
      `GET /api/qr/${benchSlug(requested % links)}?size=2048&margin=0&ecc=H&dark=${colour} HTTP/1.1\r\n` +
      `host: localhost\r\nx-forwarded-for: 198.18.${address >> 8}.${address & 255}\r\n\r\n`
    );
  };
}

function keysInTurn(keys: readonly string[]): () => string {
  let next = 0;
  return () => `x-api-key: ${keys[next++ % keys.length]}\r\n`;
}
