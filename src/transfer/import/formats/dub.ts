// Dub: pages of `GET /links`, or the CSV that its dashboard exports; it gives totals of clicks, no clicks.

import { Failure } from "../../../runtime/errors.ts";
import { isObject } from "../../../runtime/is-object.ts";
import { column, list, tableFormat, text, time, total } from "../columns.ts";
import { jsonOf, optionalTime, requiredText, shortUrlOf, textOf } from "../fields.ts";
import type { Fields, ImportContext, ImportedFields, ImportedRule } from "../imported.ts";

const UTM = ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"] as const;
/** As it was called until 2024, and is by its label in the CSV. */
const URLS = ["url", "destination_url"];
const SLUG = ["key", "shortLink", "link"];
/** Dub's own, as none of the account's. */
const HOSTS = [
  "dub.sh",
  "dub.link",
  "git.new",
  "spti.fi",
  "cal.link",
  "amzn.id",
  "ggl.link",
  "chatg.pt",
  "fig.page",
];
const PREVIEW = "pages of links here have no preview of their own";
const OWNER = "accounts are not imported";
const SALES = "sales and partners are counted at Dub";

export const dub = tableFormat({
  name: "dub",
  links: {
    slug: column((record) => textOf(record, ["key"]) ?? shortOf(record).slug, ...SLUG),
    domain: column((record, names) => textOf(record, names)?.toLowerCase() ?? shortOf(record).host, "domain"),
    url: column((record) => withUtm(requiredText(record, URLS), record), ...URLS, ...UTM),
    created_at: time("createdAt"),
    title: text("title"),
    tags: list("tags", "tagNames"),
    comments: text("comments"),
    external_id: text("externalId"),
    expires_at: time("expiresAt"),
    expired_url: text("expiredUrl"),
    password: column((record, names) => passwordOf(textOf(record, names)), "password"),
    rules: column(rulesOf, "ios", "android", "geo", "testVariants", "testCompletedAt"),
    disabled: time("disabledAt"),
    clicks: total("clicks"),
  },
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
  needed: [SLUG, URLS],
  complete(link, record) {
    if (textOf(record, ["key"]) === "_root")
      throw new Failure("it is the page of a domain itself, which has no slug here");
    // As every link of Dub does.
    const fields: ImportedFields = { ...link.fields, forward_query: "visitor" };
    return [
      HOSTS.includes(link.domain ?? "")
        ? { ...link, fields, domain: undefined, site: link.domain }
        : { ...link, fields },
    ];
  },
});

/** @throws Failure */
function shortOf(record: Fields): { host: string | undefined; slug: string } {
  return shortUrlOf(requiredText(record, ["shortLink", "link", "key"]));
}

function passwordOf(written: string | undefined) {
  return written === undefined ? undefined : { text: written };
}

/** Dub writes them into the destination, too; older links have them beside it alone. */
function withUtm(longUrl: string, record: Fields): string {
  const url = URL.parse(longUrl);
  const missing = UTM.filter((name) => textOf(record, [name]) !== undefined && !url?.searchParams.has(name));
  if (!url || missing.length === 0) return longUrl;
  for (const name of missing) url.searchParams.set(name, textOf(record, [name]) ?? "");
  return url.href;
}

/**
 * In the order in which Dub decides: iOS, Android, the country, then a test that has not ended.
 * @throws Failure
 */
function rulesOf(record: Fields, _: readonly string[], context: ImportContext): ImportedRule[] {
  const [ios, android] = [textOf(record, ["ios"]), textOf(record, ["android"])];
  const testEnd = optionalTime(record, ["testCompletedAt"], context);
  return [
    ...(ios === undefined ? [] : [{ when: { os: ["iOS"] }, url: ios }]),
    ...(android === undefined ? [] : [{ when: { os: ["Android"] }, url: android }]),
    ...rulesByCountry(jsonOf(record, ["geo"])),
    ...rulesOfTest(jsonOf(record, ["testVariants"]), testEnd, context.now),
  ];
}

/** One rule a destination. */
function rulesByCountry(geo: unknown): ImportedRule[] {
  if (!isObject(geo)) return [];
  const countries = Map.groupBy(Object.keys(geo), (country) => requiredText(geo, [country]));
  return [...countries].map(([url, country]) => ({ when: { country }, url }));
}

/** Dub weighs the destinations of a test against each other, until its end; without one there is no test. */
function rulesOfTest(variants: unknown, end: string | undefined, now: Date): ImportedRule[] {
  if (!Array.isArray(variants) || end === undefined || end <= now.toISOString()) return [];
  if (!variants.every(isObject)) throw new Failure("testVariants are no list of destinations");
  const weights = variants.map((variant) => Number(textOf(variant, ["percentage"])));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return variants.map((variant, n) => ({
    when: { share: ((weights[n] ?? 0) * 100) / all, to: end },
    url: requiredText(variant, ["url"]),
  }));
}

function each(names: readonly string[], reason: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, reason]));
}
