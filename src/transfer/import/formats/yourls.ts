// YOURLS: the tables yourls_url and yourls_log as CSV or JSON, or the answer of its API's action `stats`.
import { optionalTime, requiredText, shortUrlOf, text, timeOf, totalOf } from "../fields.ts";
import type { FieldList, ImportFormat } from "../imported.ts";

const mapped = {
  slug: ["keyword", "shorturl"],
  url: ["url"],
  title: ["title"],
  created_at: ["timestamp"],
  clicks: ["clicks"],
} as const satisfies FieldList["mapped"];

export const yourls: ImportFormat = {
  name: "yourls",
  fields: { mapped, leftOut: { ip: "the address of whoever made the link: personal data" }, refused: {} },
  columns: { links: [mapped.slug, mapped.url], clicks: [mapped.slug, ["click_time"]] },
  linksOf(record, { zone, note }) {
    const { slug } = shortUrlOf(requiredText(record, ...mapped.slug));
    return [
      {
        slug,
        longUrl: requiredText(record, ...mapped.url),
        createdAt: optionalTime(record, zone, ...mapped.created_at),
        fields: { title: text(record, ...mapped.title) },
        totalClicks: totalOf(record, note, ...mapped.clicks),
      },
    ];
  },
  clicksOf(record, { zone }) {
    const facts = {
      at: timeOf(requiredText(record, "click_time"), zone),
      // YOURLS writes `direct` when there was none.
      referrer: (text(record, "referrer") ?? "").replace(/^direct$/, ""),
      userAgent: text(record, "user_agent") ?? "",
      ip: text(record, "ip_address"),
      country: text(record, "country_code"),
    };
    const { slug } = shortUrlOf(requiredText(record, "shorturl", "keyword"));
    const id = text(record, "click_id");
    return [{ link: { slug }, facts, ...(id === undefined ? { traits: JSON.stringify(facts) } : { id }) }];
  },
};
