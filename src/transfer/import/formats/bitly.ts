// Bitly: the CSV of its links, or pages of `GET /v4/groups/{guid}/bitlinks`; it gives totals of clicks, no clicks.
import { flag, list, required, tableFormat, text, time, total } from "../columns.ts";
import { listOf, requiredText, shortUrlOf } from "../fields.ts";
import type { ImportedLink } from "../imported.ts";

const HOSTS = ["bit.ly", "bitly.com", "j.mp"];
const URLS = ["long_url", "destination_url", "destination"];
const SLUG = ["link", "bitlink", "short_link", "short_url", "id"];
const FURTHER = ["custom_bitlinks", "custom_bitlink"];
const UNSAID = "of Bitly's own records, without meaning elsewhere";

export const bitly = tableFormat({
  name: "bitly",
  links: {
    slug: text(...SLUG),
    url: required(...URLS),
    created_at: time("created_at", "created", "date_created"),
    title: text("title"),
    tags: list("tags"),
    deleted: flag("is_deleted"),
    clicks: total("clicks", "total_clicks", "engagements"),
  },
  further: { further_slugs: FURTHER },
  leftOut: {
    archived: "Bitly hides archived links from lists, and redirects them as ever",
    created_by: "a user of Bitly",
    client_id: UNSAID,
    campaign_ids: "campaigns are made at Bitly",
    launchpad_ids: "pages are made at Bitly",
    qr_code_ids: "every link here has its QR code",
    references: UNSAID,
  },
  refused: { deeplinks: "it opens apps (deeplinks), which links here can't" },
  needed: [URLS, [...SLUG, ...FURTHER]],
  /** Each is an address that people follow; what Bitly counted is of all of them together. */
  complete(link, record) {
    const addresses = [link.slug ?? [], listOf(record, FURTHER)].flat().map(addressOf);
    const distinct = new Map(
      addresses.map((address) => [`${address.domain ?? ""}/${address.slug}`, address]),
    );
    if (distinct.size === 0) requiredText(record, SLUG);
    return [...distinct.values()].map(
      (address, n): ImportedLink => ({
        ...link,
        ...address,
        site: HOSTS[0],
        totalClicks: n === 0 ? link.totalClicks : undefined,
      }),
    );
  },
});

/** All of Bitly's own hosts serve the same links, as none of the account's. @throws Failure */
function addressOf(shortUrl: string): { domain: string | undefined; slug: string } {
  const { host = "", slug } = shortUrlOf(shortUrl);
  return { domain: HOSTS.includes(host) ? undefined : host || undefined, slug };
}
