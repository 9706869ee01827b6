// YOURLS: the tables yourls_url and yourls_log as CSV or JSON, or the answer of its API's action `stats`.
import { count, optionalTime, requiredText, shortUrlOf, text, timeOf } from "../fields.ts";
import type { ImportFormat } from "../imported.ts";

const SLUG = ["keyword", "shorturl"] as const;

export const yourls: ImportFormat = {
  columns: { links: [SLUG, ["url"]], clicks: [SLUG, ["click_time"]] },
  linkOf(row) {
    return {
      slug: shortUrlOf(requiredText(row, ...SLUG)).slug,
      domain: undefined,
      longUrl: requiredText(row, "url"),
      createdAt: optionalTime(row, "timestamp"),
      changes: [],
      totalClicks: count(row, "clicks"),
    };
  },
  clicksOf(row) {
    const at = timeOf(requiredText(row, "click_time"));
    const referrer = text(row, "referrer") ?? "";
    const facts = {
      at,
      // YOURLS writes `direct` when there was none.
      referrer: referrer === "direct" ? "" : referrer,
      userAgent: text(row, "user_agent") ?? "",
      ip: text(row, "ip_address"),
      country: text(row, "country_code"),
    };
    const link = { domain: undefined, slug: shortUrlOf(requiredText(row, "shorturl", "keyword")).slug };
    const id = text(row, "click_id");
    return [{ link, identity: id ?? JSON.stringify(facts), isId: id !== undefined, facts }];
  },
};
