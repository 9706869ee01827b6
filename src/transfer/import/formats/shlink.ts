// Shlink: pages of `GET /rest/v3/short-urls`, with the rules and visits of each short URL as docs/import.md says.
import type { TimeZone } from "../../../queries/analytics/time-zone.ts";
import { Refused } from "../../../runtime/refused.ts";
import {
  isTrue,
  listOf,
  memberOf,
  numberOf,
  optionalTime,
  requiredText,
  shortUrlOf,
  text,
  timeOf,
  totalOf,
} from "../fields.ts";
import type { FieldList, Fields, ImportFormat } from "../imported.ts";
import { rulesOfDevices, rulesOfShlink } from "./shlink-rules.ts";

const mapped = {
  slug: ["shortCode"],
  domain: ["domain", "shortUrl"],
  url: ["longUrl"],
  created_at: ["dateCreated", "createdAt"],
  title: ["title"],
  tags: ["tags"],
  active_from: ["meta.validSince"],
  expires_at: ["meta.validUntil"],
  max_clicks: ["meta.maxVisits"],
  forward_query: ["forwardQuery"],
  rules: ["redirectRules", "deviceLongUrls", "hasRedirectRules"],
  clicks: ["visitsSummary", "visitsCount", "visits"],
} as const satisfies FieldList["mapped"];

export const shlink: ImportFormat = {
  name: "shlink",
  fields: {
    mapped,
    leftOut: {
      crawlable: "no link here is indexed by search engines",
      defaultLongUrl: "the same as longUrl",
    },
    refused: {},
  },
  columns: { links: [mapped.slug, mapped.url], clicks: [["shortCode", "visitedUrl"], ["date"]] },
  linksOf(record, { withClicks, zone, note }) {
    const shortUrl = text(record, "shortUrl");
    const totalClicks = totalOf(record, note, "visitsSummary.total", "visitsCount", "visits");
    const most = numberOf(record, ...mapped.max_clicks);
    const written = text(record, "visitsSummary.total", "visitsCount", "visits");
    if (most !== undefined && totalClicks === undefined && written !== undefined)
      throw new Refused(
        "record_refused",
        `how many of its visits are left is not known: ${written} is no whole number`,
      );
    const left = most === undefined ? undefined : most - (totalClicks ?? 0);
    const hasEnded = left !== undefined && left <= 0;
    return [
      {
        slug: requiredText(record, ...mapped.slug),
        domain: text(record, "domain")?.toLowerCase(),
        site: shortUrl && shortUrlOf(shortUrl).host,
        longUrl: requiredText(record, ...mapped.url),
        createdAt: optionalTime(record, zone, ...mapped.created_at),
        fields: {
          title: text(record, ...mapped.title),
          tags: listOf(record, ...mapped.tags),
          active_from: optionalTime(record, zone, ...mapped.active_from),
          expires_at: optionalTime(record, zone, ...mapped.expires_at),
          // Visits that are not imported one by one don't count here.
          max_clicks: withClicks || hasEnded ? most : left,
          // Shlink's default.
          forward_query:
            text(record, "forwardQuery") === undefined || isTrue(record, "forwardQuery") ? "visitor" : false,
          rules: rulesOf(record, zone),
        },
        changes: hasEnded ? [{ at: undefined, change: { type: "disable" } }] : [],
        totalClicks,
      },
    ];
  },
  clicksOf(record, { zone }) {
    const shortCode = text(record, "shortCode");
    const { host, slug } = shortUrlOf(shortCode ?? requiredText(record, "visitedUrl"));
    const domain = shortCode === undefined ? host : text(record, "domain")?.toLowerCase();
    const facts = {
      at: timeOf(requiredText(record, "date"), zone),
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

/** @throws record_refused for rules that are not in the file, or that a link here can't have */
function rulesOf(record: Fields, zone: TimeZone | undefined) {
  const rules = memberOf(record, "redirectRules");
  if (rules === undefined && isTrue(record, "hasRedirectRules"))
    throw new Refused(
      "record_refused",
      "it has redirect rules, which are not in the file: add redirectRules",
    );
  return [...rulesOfShlink(rules, zone), ...rulesOfDevices(memberOf(record, "deviceLongUrls"))];
}
