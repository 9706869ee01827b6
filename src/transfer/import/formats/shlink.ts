// Shlink: pages of `GET /rest/v3/short-urls`, with the rules and visits of each short URL as docs/import.md says.

import { Failure } from "../../../runtime/errors.ts";
import { column, list, required, tableFormat, text, time, totalOf, wholeNumber } from "../columns.ts";
import { isTrue, memberOf, requiredText, shortUrlOf, textOf, timeOf } from "../fields.ts";
import type { Fields, ImportContext, ImportedRule } from "../imported.ts";
import { rulesOfDevices, rulesOfShlink } from "./shlink-rules.ts";

const VISITS = ["visitsSummary.total", "visitsCount", "visits"];

export const shlink = tableFormat({
  name: "shlink",
  links: {
    slug: required("shortCode"),
    domain: column((record) => textOf(record, ["domain"])?.toLowerCase(), "domain", "shortUrl"),
    url: required("longUrl"),
    created_at: time("dateCreated", "createdAt"),
    title: text("title"),
    tags: list("tags"),
    active_from: time("meta.validSince"),
    expires_at: time("meta.validUntil"),
    max_clicks: wholeNumber("meta.maxVisits"),
    forward_query: column(forwardingOf, "forwardQuery"),
    rules: column(rulesOf, "redirectRules", "deviceLongUrls", "hasRedirectRules"),
    clicks: column(
      (record, _, context) => totalOf(record, VISITS, context),
      ...["visitsSummary", "visitsCount", "visits"],
    ),
  },
  leftOut: {
    crawlable: "no link here is indexed by search engines",
    defaultLongUrl: "the same as longUrl",
  },
  complete(link, record, { withClicks }) {
    const shortUrl = textOf(record, ["shortUrl"]);
    const placed = { ...link, site: shortUrl && shortUrlOf(shortUrl).host };
    const { fields = {}, totalClicks } = link;
    const { max_clicks: most } = fields;
    if (most === undefined || most === null) return [placed];
    const written = textOf(record, VISITS);
    if (totalClicks === undefined && written !== undefined)
      throw new Failure(`how many of its visits are left is not known: ${written} is no whole number`);
    const left = most - (totalClicks ?? 0);
    if (left <= 0) return [{ ...placed, changes: [{ at: undefined, change: { type: "disable" } }] }];
    // Visits that are not imported one by one don't count here.
    return [{ ...placed, fields: { ...fields, max_clicks: withClicks ? most : left } }];
  },
  clicks: {
    needed: [["shortCode", "visitedUrl"], ["date"]],
    of(record, { zone }) {
      const shortCode = textOf(record, ["shortCode"]);
      const { host, slug } = shortUrlOf(shortCode ?? requiredText(record, ["visitedUrl"]));
      const domain = shortCode === undefined ? host : textOf(record, ["domain"])?.toLowerCase();
      const facts = {
        at: timeOf(requiredText(record, ["date"]), zone),
        referrer: textOf(record, ["referer"]) ?? "",
        userAgent: textOf(record, ["userAgent"]) ?? "",
        isBot: isTrue(record, ["potentialBot"]),
        country: textOf(record, ["visitLocation.countryCode"]),
        region: textOf(record, ["visitLocation.regionName"]),
        city: textOf(record, ["visitLocation.cityName"]),
      };
      return [{ link: { domain, slug }, facts, traits: JSON.stringify(facts) }];
    },
  },
});

/** The visitor's, by default. @throws Failure */
function forwardingOf(record: Fields, names: readonly string[]): "visitor" | false {
  return textOf(record, names) === undefined || isTrue(record, names) ? "visitor" : false;
}

/** @throws Failure for rules that are not in the file, or that a link here can't have */
function rulesOf(record: Fields, _: readonly string[], { zone }: ImportContext): ImportedRule[] {
  const rules = memberOf(record, "redirectRules");
  if (rules === undefined && isTrue(record, ["hasRedirectRules"]))
    throw new Failure("it has redirect rules, which are not in the file: add redirectRules");
  return [...rulesOfShlink(rules, zone), ...rulesOfDevices(memberOf(record, "deviceLongUrls"))];
}
