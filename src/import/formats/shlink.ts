// Shlink: pages of `GET /rest/v3/short-urls`; visits are those of `.../short-urls/{shortCode}/visits` with their shortCode.
import { Refused } from "../../runtime/refused.ts";
import { count, isTrue, optionalTime, requiredText, shortUrlOf, text, timeOf } from "../fields.ts";
import type { ImportFormat, Row } from "../imported.ts";
import { endAt } from "./ends.ts";

export const shlink: ImportFormat = {
  columns: { links: [["shortCode"], ["longUrl"]], clicks: [["shortCode", "visitedUrl"], ["date"]] },
  linkOf(row, now) {
    const meta = inner(row, "meta");
    if (text(meta, "maxVisits") !== undefined)
      throw new Refused("record_refused", "it ends after a number of visits, which links here can't");
    const since = optionalTime(meta, "validSince");
    if (since !== undefined && since > now.toISOString())
      throw new Refused("record_refused", `it begins at ${since}, which links here can't`);
    if (isTrue(row, "hasRedirectRules"))
      throw new Refused("record_refused", "it has redirect rules, which links here can't have");
    return {
      slug: requiredText(row, "shortCode"),
      domain: text(row, "domain")?.toLowerCase(),
      longUrl: requiredText(row, "longUrl"),
      createdAt: optionalTime(row, "dateCreated"),
      changes: endAt(optionalTime(meta, "validUntil"), now),
      totalClicks: count(inner(row, "visitsSummary"), "total") ?? count(row, "visitsCount"),
    };
  },
  clicksOf(row) {
    const place = inner(row, "visitLocation");
    const shortCode = text(row, "shortCode");
    const short = shortUrlOf(shortCode ?? requiredText(row, "visitedUrl"));
    const facts = {
      at: timeOf(requiredText(row, "date")),
      referrer: text(row, "referer") ?? "",
      userAgent: text(row, "userAgent") ?? "",
      isBot: isTrue(row, "potentialBot"),
      country: text(place, "countryCode"),
      region: text(place, "regionName"),
      city: text(place, "cityName"),
    };
    const domain = shortCode === undefined ? short.host : text(row, "domain")?.toLowerCase();
    return [{ link: { domain, slug: short.slug }, identity: JSON.stringify(facts), isId: false, facts }];
  },
};

function inner({ place, value }: Row, name: string): Row {
  const found = value[name];
  return { place, value: typeof found === "object" && found !== null ? (found as Row["value"]) : {} };
}
