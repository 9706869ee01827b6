// Dub: pages of `GET /links`, or the CSV that its dashboard exports; it gives totals of clicks, no clicks.

import type { TimeZone } from "../../../queries/analytics/time-zone.ts";
import { isObject } from "../../../runtime/is-object.ts";
import { Refused } from "../../../runtime/refused.ts";
import { jsonOf, listOf, optionalTime, requiredText, shortUrlOf, text, totalOf } from "../fields.ts";
import type { FieldList, Fields, ImportedChange, ImportedRule, ImportFormat } from "../imported.ts";

const UTM = ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"] as const;
/** As they were called until 2024, and are by their labels in the CSV. */
const mapped = {
  slug: ["key", "shortLink", "link"],
  domain: ["domain"],
  url: ["url", "destination_url", ...UTM],
  created_at: ["createdAt"],
  title: ["title"],
  tags: ["tags", "tagNames"],
  comments: ["comments"],
  external_id: ["externalId"],
  expires_at: ["expiresAt"],
  expired_url: ["expiredUrl"],
  password: ["password"],
  rules: ["ios", "android", "geo", "testVariants", "testCompletedAt"],
  disabled: ["disabledAt"],
  clicks: ["clicks"],
} as const satisfies FieldList["mapped"];

const PREVIEW = "pages of links here have no preview of their own";
const OWNER = "accounts are not imported";
const SALES = "sales and partners are counted at Dub";

export const dub: ImportFormat = {
  name: "dub",
  fields: {
    mapped,
    leftOut: {
      archived: "Dub hides archived links from lists, and redirects them as ever",
      description: PREVIEW,
      image: PREVIEW,
      video: PREVIEW,
      proxy: PREVIEW,
      rewrite: "links here lead to their destination, they don't frame it",
      doIndex: "no link here is indexed by search engines",
      publicStats: "analytics here are for the owner",
      identifier: "replaced by externalId at Dub",
      ...each(
        ["trackConversion", "programId", "partnerId", "tenantId", "lastLeadAt", "lastConversionAt"],
        SALES,
      ),
      ...each(["leads", "conversions", "sales", "saleAmount"], SALES),
      ...each(["id", "linkId", "userId", "user", "workspaceId", "projectId"], OWNER),
      ...each(["folderId", "folder", "tagId"], "links here are ordered by tags"),
      webhookIds: "webhooks are not imported",
      qrCode: "every link here has its QR code",
      testStartedAt: "a test runs until testCompletedAt",
      ...each(["lastClicked"], "without the click itself"),
      ...each(["updatedAt"], "without what was changed"),
    },
    refused: {},
  },
  columns: { links: [mapped.slug, ["url", "destination_url"]] },
  linksOf(record, { now, zone, note }) {
    if (text(record, "key") === "_root")
      throw new Refused("record_refused", "it is the page of a domain itself, which has no slug here");
    const short = shortUrlOf(requiredText(record, "shortLink", "link", "key"));
    const disabledAt = optionalTime(record, zone, ...mapped.disabled);
    const disabled: ImportedChange = { at: disabledAt, change: { type: "disable" } };
    const password = text(record, ...mapped.password);
    return [
      {
        slug: text(record, "key") ?? short.slug,
        domain: text(record, "domain")?.toLowerCase() ?? short.host,
        longUrl: withUtm(requiredText(record, "url", "destination_url"), record),
        createdAt: optionalTime(record, zone, ...mapped.created_at),
        changes: disabledAt === undefined ? [] : [disabled],
        fields: {
          title: text(record, ...mapped.title),
          tags: listOf(record, ...mapped.tags),
          comments: text(record, ...mapped.comments),
          external_id: text(record, ...mapped.external_id),
          expires_at: optionalTime(record, zone, ...mapped.expires_at),
          expired_url: text(record, ...mapped.expired_url),
          password: password === undefined ? undefined : { text: password },
          // As every link of Dub does.
          forward_query: "visitor",
          rules: rulesOf(record, now, zone),
        },
        totalClicks: totalOf(record, note, ...mapped.clicks),
      },
    ];
  },
  clicksOf: () => [],
};

/** Dub writes them into the destination, too; older links have them beside it alone. */
function withUtm(longUrl: string, record: Fields): string {
  const url = URL.parse(longUrl);
  const missing = UTM.filter((name) => text(record, name) !== undefined && !url?.searchParams.has(name));
  if (!url || missing.length === 0) return longUrl;
  for (const name of missing) url.searchParams.set(name, text(record, name) ?? "");
  return url.href;
}

/**
 * In the order in which Dub decides: iOS, Android, the country, then a test that has not ended.
 * @throws record_refused
 */
function rulesOf(record: Fields, now: Date, zone: TimeZone | undefined): ImportedRule[] {
  const [ios, android] = [text(record, "ios"), text(record, "android")];
  return [
    ...(ios === undefined ? [] : [{ when: { os: ["iOS"] }, url: ios }]),
    ...(android === undefined ? [] : [{ when: { os: ["Android"] }, url: android }]),
    ...rulesByCountry(jsonOf(record, "geo")),
    ...rulesOfTest(jsonOf(record, "testVariants"), optionalTime(record, zone, "testCompletedAt"), now),
  ];
}

/** One rule a destination. */
function rulesByCountry(geo: unknown): ImportedRule[] {
  if (!isObject(geo)) return [];
  const countries = Map.groupBy(Object.keys(geo), (country) => requiredText(geo, country));
  return [...countries].map(([url, country]) => ({ when: { country }, url }));
}

/** Dub weighs the destinations of a test against each other, until its end; without one there is no test. */
function rulesOfTest(variants: unknown, end: string | undefined, now: Date): ImportedRule[] {
  if (!Array.isArray(variants) || end === undefined || end <= now.toISOString()) return [];
  if (!variants.every(isObject))
    throw new Refused("record_refused", "testVariants are no list of destinations");
  const weights = variants.map((variant) => Number(text(variant, "percentage")));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return variants.map((variant, n) => ({
    when: { share: ((weights[n] ?? 0) * 100) / all, to: end },
    url: requiredText(variant, "url"),
  }));
}

function each(names: readonly string[], reason: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, reason]));
}
