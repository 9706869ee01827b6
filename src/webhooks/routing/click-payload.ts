// Builds the body of a link.clicked delivery (interface, part 6) once; it is stored, signed and sent unchanged.
import type { LinkClicked } from "../../events/catalogue.ts";
import { clickFacts, shortUrlOf } from "../../events/click-facts.ts";
import { LINK_CLICKED } from "../../events/webhook-selection.ts";
import type { ClickDelivery } from "./delivery-schemas.ts";

/**
 * Every field is a string: "" for a missing value (user_agent, referer, ip), `unknown` for an unrecognised one
 * (country, city, device_type, browser, os), as in the analytics. `ip` is anonymised. `baseUrl`: without a trailing slash.
 */
export function clickPayload(data: LinkClicked["data"], baseUrl: string): string {
  const click = clickFacts(data);
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
  } satisfies ClickDelivery);
}
