// The test tool's samples: a realistic click on a link that does not exist, and that link's life.
import { create, evolve, freeLink, type LinkDetails } from "../../commands/links/link.ts";
import type { LinkClicked } from "../../events/catalogue.ts";
import { LINK_CLICKED, type WebhookEventName } from "../../events/webhook-selection.ts";
import { clickPayload } from "./click-payload.ts";
import { linkPayload } from "./link-payload.ts";

/** `at`: milliseconds. */
export function samplePayload(event: WebhookEventName, baseUrl: string, at: number): string {
  const moment = new Date(at).toISOString();
  const host = new URL(baseUrl).hostname;
  if (event === LINK_CLICKED) return clickPayload(sampleClick(`${host}/example`, moment), baseUrl);
  const slug = "example";
  const details: LinkDetails = {
    host,
    slug,
    accountId: NOBODY,
    longUrl: LONG_URL,
    shortUrl: `${baseUrl}/${slug}`,
    via: "api",
    custom: true,
    createdAt: moment,
    title: "A long page",
    tags: ["sample"],
  };
  const of = { host, slug, accountId: NOBODY, at: moment };
  const before = create(freeLink, details).reduce(evolve, freeLink);
  const after = {
    "link.created": before,
    "link.updated": evolve(before, {
      type: "LinkRetargeted",
      data: { ...of, from: LONG_URL, to: "https://example.com/another/page" },
    }),
    "link.deleted": evolve(before, { type: "LinkDeleted", data: of }),
    "link.expired": { ...before, expiresAt: moment },
    "link.limit_reached": { ...before, maxClicks: 100 },
  }[event];
  return linkPayload(event, moment, { before, after }, baseUrl);
}

const NOBODY = "00000000-0000-4000-8000-000000000000";
const LONG_URL = "https://example.com/a/long/page";

function sampleClick(link: string, at: string): LinkClicked["data"] {
  return {
    link,
    linkRevision: 0,
    longUrl: LONG_URL,
    accountId: NOBODY,
    via: "api",
    at,
    kind: "click",
    rules: "",
    method: "GET",
    userAgent:
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    device: "desktop",
    browser: { name: "Chrome", version: "140.0.0.0" },
    os: { name: "Mac OS", version: "10.15.7" },
    ip: "203.0.113.0",
    country: "FR",
    city: "Paris",
    referrer: "https://news.example/today",
  };
}
