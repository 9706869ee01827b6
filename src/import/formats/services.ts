// Bitly, YOURLS, Shlink and Kutt: which of their fields is which of ours, and what links here can't be.
import { Refused } from "../../runtime/refused.ts";
import {
  count,
  endAt,
  isTrue,
  memberOf,
  optionalTime,
  requiredText,
  shortUrlOf,
  text,
  timeOf,
} from "../fields.ts";
import type { ClickFacts, Fields, ImportedChange, ImportFormat } from "../imported.ts";

const BITLY_URL = ["long_url", "destination_url", "destination"] as const;
const BITLY_LINK = ["custom_bitlink", "link", "bitlink", "short_link", "short_url", "id"] as const;
const BITLY_HOSTS = ["bit.ly", "bitly.com", "j.mp"];

/**
 * The CSV of its links, or pages of `GET /v4/groups/{guid}/bitlinks`. It gives totals of clicks, no clicks. Archived links
 * are live: Bitly hides them from lists, and redirects them as ever.
 */
export const bitly: ImportFormat = {
  columns: { links: [BITLY_URL, BITLY_LINK] },
  linkOf(record) {
    const { host = "", slug } = shortUrlOf(requiredText(record, ...BITLY_LINK));
    return {
      slug,
      domain: BITLY_HOSTS.includes(host) ? undefined : host || undefined,
      longUrl: requiredText(record, ...BITLY_URL),
      createdAt: optionalTime(record, "created_at", "created", "date_created"),
      totalClicks: count(record, "clicks", "total_clicks", "engagements"),
    };
  },
  clicksOf: () => [],
};

const KEYWORD = ["keyword", "shorturl"] as const;

/** The tables yourls_url and yourls_log as CSV or JSON, or the answer of its API's action `stats`. */
export const yourls: ImportFormat = {
  columns: { links: [KEYWORD, ["url"]], clicks: [KEYWORD, ["click_time"]] },
  linkOf: (record) => ({
    slug: shortUrlOf(requiredText(record, ...KEYWORD)).slug,
    longUrl: requiredText(record, "url"),
    createdAt: optionalTime(record, "timestamp"),
    totalClicks: count(record, "clicks"),
  }),
  clicksOf(record) {
    const facts = {
      at: timeOf(requiredText(record, "click_time")),
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

/** Pages of `GET /rest/v3/short-urls`; visits are those of `.../short-urls/{shortCode}/visits` with their shortCode. */
export const shlink: ImportFormat = {
  columns: { links: [["shortCode"], ["longUrl"]], clicks: [["shortCode", "visitedUrl"], ["date"]] },
  linkOf(record, now) {
    if (text(record, "meta.maxVisits") !== undefined)
      throw new Refused("record_refused", "it ends after a number of visits, which links here can't");
    const since = optionalTime(record, "meta.validSince");
    if (since !== undefined && since > now.toISOString())
      throw new Refused("record_refused", `it begins at ${since}, which links here can't`);
    if (isTrue(record, "hasRedirectRules"))
      throw new Refused("record_refused", "it has redirect rules, which links here can't have");
    return {
      slug: requiredText(record, "shortCode"),
      domain: text(record, "domain")?.toLowerCase(),
      longUrl: requiredText(record, "longUrl"),
      createdAt: optionalTime(record, "dateCreated"),
      changes: endAt(optionalTime(record, "meta.validUntil"), now),
      totalClicks: count(record, "visitsSummary.total", "visitsCount"),
    };
  },
  clicksOf(record) {
    const shortCode = text(record, "shortCode");
    const { host, slug } = shortUrlOf(shortCode ?? requiredText(record, "visitedUrl"));
    const domain = shortCode === undefined ? host : text(record, "domain")?.toLowerCase();
    const facts = {
      at: timeOf(requiredText(record, "date")),
      referrer: text(record, "referer") ?? "",
      userAgent: text(record, "userAgent") ?? "",
      isBot: isTrue(record, "potentialBot"),
      country: text(record, "visitLocation.countryCode"),
      region: text(record, "visitLocation.regionName"),
      city: text(record, "visitLocation.cityName"),
    };
    return [{ link: { domain, slug }, facts, traits: JSON.stringify(facts) }];
  },
};

const KUTT_BROWSERS = ["Chrome", "Edge", "Firefox", "IE", "Opera", "Safari"];
const KUTT_DESKTOPS = ["Linux", "Mac OS", "Windows"];
const KUTT_SYSTEMS = [...KUTT_DESKTOPS, "Android", "iOS"];
/** Beyond what one hour can have, so that a damaged number doesn't fill the log. */
const MOST_IN_AN_HOUR = 1_000_000;

/** Pages of `GET /api/v2/links`, or its tables links and visits as CSV or JSON. A visits row counts one hour. */
export const kutt: ImportFormat = {
  columns: { links: [["address"], ["target"]], clicks: [["link_id"], ["created_at"]] },
  linkOf(record, now) {
    if (!/^(false|f|0)$/i.test(text(record, "password") ?? "false"))
      throw new Refused("record_refused", "it is protected by a password, which links here can't be");
    const banned: ImportedChange = { at: optionalTime(record, "updated_at"), change: { type: "disable" } };
    return {
      slug: requiredText(record, "address"),
      domain: text(record, "domain")?.toLowerCase(),
      id: text(record, "id"),
      longUrl: requiredText(record, "target"),
      createdAt: optionalTime(record, "created_at"),
      changes: [
        ...(isTrue(record, "banned") ? [banned] : []),
        ...endAt(optionalTime(record, "expire_in"), now),
      ],
      totalClicks: count(record, "visit_count"),
    };
  },
  clicksOf(record) {
    const total = count(record, "total") ?? 0;
    if (total > MOST_IN_AN_HOUR) throw new Refused("record_refused", `${total} visits in one hour`);
    const facts = kuttFacts(record, total);
    const link = { id: requiredText(record, "link_id") };
    return Array.from({ length: total }, (_, n) => ({ link, traits: `hour ${n}`, facts }));
  },
};

/** Only what all visits of the hour have in common is known of each of them. */
function kuttFacts(record: Fields, total: number): ClickFacts {
  /** Such as the browser whose `br_chrome` is the total. */
  const named = (prefix: string, names: readonly string[]) =>
    names.find((name) => count(record, `${prefix}_${name.toLowerCase().replace(" ", "")}`) === total);
  const counted = (field: string) => {
    const counts = kuttCounts(record, field);
    return Object.keys(counts).find((name) => counts[name] === total);
  };
  const os = named("os", KUTT_SYSTEMS);
  const referrer = counted("referrers")?.replaceAll("[dot]", ".");
  return {
    at: timeOf(requiredText(record, "created_at")),
    browser: named("br", KUTT_BROWSERS),
    os,
    device: os !== undefined && KUTT_DESKTOPS.includes(os) ? "desktop" : undefined,
    country: counted("countries"),
    referrer: referrer && (/^direct$/i.test(referrer) ? "" : `https://${referrer}`),
  };
}

/** An object, or as CSV the JSON of one. @throws record_refused */
function kuttCounts(record: Fields, name: string): Record<string, unknown> {
  const field = memberOf(record, name) || {};
  if (typeof field !== "string") return field as Record<string, unknown>;
  try {
    return JSON.parse(field) ?? {};
  } catch {
    throw new Refused("record_refused", `${name} is no JSON`);
  }
}
