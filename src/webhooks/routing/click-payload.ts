// The body of a link.clicked delivery (interface, part 6), as bytes: stored once, signed and sent unchanged.
import type { LinkClicked } from "../../events/catalogue.ts";

export const LINK_CLICKED = "link.clicked";

/** What the body is made of; the rest of the event stays with us. */
export type PayloadClick = Pick<
  LinkClicked["data"],
  | "at"
  | "slug"
  | "shortUrl"
  | "longUrl"
  | "ip"
  | "userAgent"
  | "referrer"
  | "country"
  | "city"
  | "device"
  | "browser"
  | "os"
>;

/**
 * Every field is a string: "" where the visitor sent nothing (user_agent, referer, ip), `unknown` where nothing was
 * recognised (country, city, device_type, browser, os), as in the analytics. `ip` is anonymised.
 */
export function clickPayload(click: PayloadClick): Uint8Array {
  const body = {
    event: LINK_CLICKED,
    timestamp: click.at,
    data: {
      link_id: click.slug,
      short_url: click.shortUrl,
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
  };
  return Buffer.from(JSON.stringify(body));
}

/** The sample of the test tool: a click as it could be, on a link that doesn't exist. `at`: milliseconds. */
export function samplePayload(baseUrl: string, at: number): Uint8Array {
  return clickPayload({
    at: new Date(at).toISOString(),
    slug: "example",
    shortUrl: `${baseUrl}/example`,
    longUrl: "https://example.com/a/long/page",
    ip: "203.0.113.0",
    userAgent:
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    referrer: "https://news.example/today",
    country: "FR",
    city: "Paris",
    device: "desktop",
    browser: { name: "Chrome", version: "140.0.0.0" },
    os: { name: "Mac OS", version: "10.15.7" },
  });
}
