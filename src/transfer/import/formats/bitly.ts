// Bitly: the CSV of its links, or pages of `GET /v4/groups/{guid}/bitlinks`; it gives totals of clicks, no clicks.
import { isTrue, listOf, optionalTime, requiredText, shortUrlOf, text, totalOf } from "../fields.ts";
import type { FieldList, ImportedLink, ImportFormat } from "../imported.ts";

const HOSTS = ["bit.ly", "bitly.com", "j.mp"];

const mapped = {
  slug: ["link", "bitlink", "short_link", "short_url", "id"],
  further_slugs: ["custom_bitlinks", "custom_bitlink"],
  url: ["long_url", "destination_url", "destination"],
  created_at: ["created_at", "created", "date_created"],
  title: ["title"],
  tags: ["tags"],
  deleted: ["is_deleted"],
  clicks: ["clicks", "total_clicks", "engagements"],
} as const satisfies FieldList["mapped"];

const UNSAID = "of Bitly's own records, without meaning elsewhere";

export const bitly: ImportFormat = {
  name: "bitly",
  fields: {
    mapped,
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
  },
  columns: { links: [mapped.url, [...mapped.slug, ...mapped.further_slugs]] },
  linksOf(record, { zone, note }) {
    const common = {
      longUrl: requiredText(record, ...mapped.url),
      createdAt: optionalTime(record, zone, ...mapped.created_at),
      changes: isTrue(record, mapped.deleted[0])
        ? [{ at: undefined, change: { type: "delete" } } as const]
        : [],
      fields: { title: text(record, ...mapped.title), tags: listOf(record, ...mapped.tags) },
    };
    // Each is an address that people follow; what Bitly counted is of all of them together.
    const addresses = [text(record, ...mapped.slug) ?? [], listOf(record, ...mapped.further_slugs)].flat();
    const distinct = new Map(addresses.map((address) => [addressOf(address).key, address]));
    if (distinct.size === 0) requiredText(record, ...mapped.slug);
    return [...distinct.values()].map((address, n): ImportedLink => {
      const { host, slug } = addressOf(address);
      const totalClicks = n === 0 ? totalOf(record, note, ...mapped.clicks) : undefined;
      return { ...common, slug, domain: host, site: HOSTS[0], totalClicks };
    });
  },
  clicksOf: () => [],
};

/** All of Bitly's own hosts serve the same links, as none of the account's. */
function addressOf(given: string): { host: string | undefined; slug: string; key: string } {
  const { host = "", slug } = shortUrlOf(given);
  const own = HOSTS.includes(host) ? undefined : host || undefined;
  return { host: own, slug, key: `${own ?? ""}/${slug}` };
}
