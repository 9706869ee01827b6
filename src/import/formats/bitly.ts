// Bitly: the CSV of its links, or pages of `GET /v4/groups/{guid}/bitlinks`. It gives totals of clicks, no clicks.
import { count, optionalTime, requiredText, shortUrlOf } from "../fields.ts";
import type { ImportFormat } from "../imported.ts";

const LONG = ["long_url", "destination_url", "destination"] as const;
const SHORT = ["custom_bitlink", "link", "bitlink", "short_link", "short_url", "id"] as const;
const DEFAULT_HOSTS = ["bit.ly", "bitly.com", "j.mp"];

/** Archived links are live: Bitly hides them from lists, and redirects them as ever. */
export const bitly: ImportFormat = {
  columns: { links: [LONG, SHORT] },
  linkOf(row) {
    const short = requiredText(row, ...SHORT);
    const { host, slug } = shortUrlOf(short);
    return {
      slug,
      domain: host === undefined || DEFAULT_HOSTS.includes(host) ? undefined : host,
      longUrl: requiredText(row, ...LONG),
      createdAt: optionalTime(row, "created_at", "created", "date_created"),
      changes: [],
      totalClicks: count(row, "clicks", "total_clicks", "engagements"),
    };
  },
  clicksOf: () => [],
};
