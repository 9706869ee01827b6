// Shlink: pages of `GET /rest/v3/short-urls`, with the rules and visits of each short URL as docs/import.md says.
import { Refused } from "../../../runtime/refused.ts";
import {
  count,
  isTrue,
  listOf,
  memberOf,
  numberOf,
  optionalTime,
  requiredText,
  shortUrlOf,
  text,
  timeOf,
} from "../fields.ts";
import type { FieldList, Fields, ImportFormat } from "../imported.ts";
import { rulesOfDevices, rulesOfShlink } from "./shlink-rules.ts";

const mapped = {
  slug: ["shortCode"],
  domain: ["domain", "shortUrl"],
  url: ["longUrl"],
  created_at: ["dateCreated"],
  title: ["title"],
  tags: ["tags"],
  active_from: ["meta.validSince"],
  expires_at: ["meta.validUntil"],
  max_clicks: ["meta.maxVisits"],
  forward_query: ["forwardQuery"],
  rules: ["redirectRules", "deviceLongUrls", "hasRedirectRules"],
  clicks: ["visitsSummary", "visitsCount"],
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
  linksOf(record, { withClicks }) {
    const shortUrl = text(record, "shortUrl");
    const totalClicks = count(record, "visitsSummary.total", "visitsCount");
    const most = numberOf(record, ...mapped.max_clicks);
    const left = most === undefined ? undefined : most - (totalClicks ?? 0);
    const hasEnded = left !== undefined && left <= 0;
    return [
      {
        slug: requiredText(record, ...mapped.slug),
        domain: text(record, "domain")?.toLowerCase(),
        site: shortUrl && shortUrlOf(shortUrl).host,
        longUrl: requiredText(record, ...mapped.url),
        createdAt: optionalTime(record, ...mapped.created_at),
        fields: {
          title: text(record, ...mapped.title),
          tags: listOf(record, ...mapped.tags),
          active_from: optionalTime(record, ...mapped.active_from),
          expires_at: optionalTime(record, ...mapped.expires_at),
          // Visits that are not imported one by one don't count here.
          max_clicks: withClicks || hasEnded ? most : left,
          // Shlink's default.
          forward_query:
            text(record, "forwardQuery") === undefined || isTrue(record, "forwardQuery") ? "visitor" : false,
          rules: rulesOf(record),
        },
        changes: hasEnded ? [{ at: undefined, change: { type: "disable" } }] : [],
        totalClicks,
      },
    ];
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

/** @throws record_refused for rules that are not in the file, or that a link here can't have */
function rulesOf(record: Fields) {
  const rules = memberOf(record, "redirectRules");
  if (rules === undefined && isTrue(record, "hasRedirectRules"))
    throw new Refused(
      "record_refused",
      "it has redirect rules, which are not in the file: add redirectRules",
    );
  return [...rulesOfShlink(rules), ...rulesOfDevices(memberOf(record, "deviceLongUrls"))];
}
