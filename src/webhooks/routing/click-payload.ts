// Builds the body of a link.clicked delivery (interface, part 6) once; it is stored, signed and sent unchanged.
import type { LinkClicked } from "../../events/catalogue.ts";
import { clickFacts, shortUrlOf } from "../../events/click-facts.ts";
import type { NewDelivery } from "../queue/queue.ts";

export const LINK_CLICKED = "link.clicked";

/**
 * Every field is a string: "" for a missing value (user_agent, referer, ip), `unknown` for an unrecognised one
 * (country, city, device_type, browser, os), as in the analytics. `ip` is anonymised. `baseUrl`: without a trailing slash.
 */
export function clickPayload(given: LinkClicked["data"], baseUrl: string): string {
  const click = clickFacts(given);
  return JSON.stringify({
    event: LINK_CLICKED,
    timestamp: click.at,
    data: {
      link_id: click.slug,
      short_url: shortUrlOf(click.link, baseUrl),
      long_url: click.longUrl,
      click_data: {
        ip: click.ip,
        user_agent: click.userAgent,
        referer: click.referrer,
        country: click.country,
        city: click.city,
        device_type: click.device,
        browser: click.browser.name,
        os: click.os.name,
      },
    },
  });
}

/** The delivery of a click to one of the webhooks that select it. */
export function clickDelivery(
  webhookId: string,
  click: LinkClicked & { id: string },
  baseUrl: string,
): NewDelivery {
  return { webhookId, eventId: click.id, event: LINK_CLICKED, body: clickPayload(click.data, baseUrl) };
}

/** The test tool's sample: a realistic click on a link that does not exist. `at`: milliseconds. */
export function samplePayload(baseUrl: string, at: number): string {
  const click: LinkClicked["data"] = {
    link: `${new URL(baseUrl).hostname}/example`,
    linkRevision: 0,
    longUrl: "https://example.com/a/long/page",
    accountId: "00000000-0000-4000-8000-000000000000",
    via: "api",
    at: new Date(at).toISOString(),
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
  return clickPayload(click, baseUrl);
}
