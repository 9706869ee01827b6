// Turns a raw hit into a LinkClicked event: classified, enriched, and without data that identifies a person.
import type { LinkClicked } from "../../events/catalogue.ts";
import { anonymiseIp } from "./enrich/anonymise-ip.ts";
import { BOT_LIST, KIND_RULES_VERSION, kindOf } from "./enrich/classify.ts";
import { cleanText } from "./enrich/clean-text.ts";
import type { Geo, Place } from "./enrich/geo.ts";
import { primaryLanguage } from "./enrich/language.ts";
import { memoize, memoizeByObject } from "./enrich/memoize.ts";
import { referrerOf } from "./enrich/referrer.ts";
import { agentOf } from "./enrich/user-agent.ts";
import { queryOf, utmOf } from "./enrich/utm.ts";
import type { Hit, LinkTarget } from "./hit.ts";
import type { VisitorOf } from "./visitors/visitor.ts";

/** `visitorOf`: the visitor codes of the hit's day. Never throws, whatever bytes the hit contains. */
export type Enrich = (hit: Hit, visitorOf: VisitorOf) => LinkClicked;

/** Memoizes parsing of repeated inputs. Raw addresses are never cached. */
export function enricher(geo: Geo): Enrich {
  const agent = memoize(10_000, agentOf);
  const referrer = memoize(5_000, referrerOf);
  const language = memoize(2_000, primaryLanguage);
  const utmOfLongUrl = memoizeByObject(({ longUrl }: LinkTarget) => utmOf(queryOf(longUrl)));
  return (hit, visitorOf) => {
    const { link } = hit;
    const { userAgent, automated, device, browser, os } = agent(hit.userAgent);
    const { country, region, city } = placeOrNowhere(geo, hit.address);
    const prefetch = cleanText(hit.prefetch, 128);
    return {
      type: "LinkClicked",
      data: {
        link: link.key,
        slug: link.slug,
        linkRevision: link.revision,
        shortUrl: link.shortUrl,
        longUrl: link.longUrl,
        accountId: link.accountId,
        via: link.via,
        at: new Date(hit.at).toISOString(),
        kind: kindOf({ method: hit.method, query: hit.query, prefetch, automated }),
        rules: KIND_RULES_VERSION,
        botList: BOT_LIST,
        method: hit.method,
        userAgent,
        device,
        browser,
        os,
        ip: anonymiseIp(hit.address),
        country,
        region,
        city,
        ...referrer(hit.referrer),
        utm: { ...utmOfLongUrl(link), ...utmOf(hit.query) },
        language: language(hit.language),
        prefetch,
        visitor: visitorOf({ address: hit.address, userAgent, of: link.key }),
        accountVisitor: visitorOf({ address: hit.address, userAgent, of: link.accountId }),
      },
    };
  };
}

/** A lookup that fails, for example in a damaged database, gives `unknown` instead of losing the click. */
function placeOrNowhere(geo: Geo, address: string): Place {
  try {
    return geo.locate(address);
  } catch {
    return { country: "unknown", region: "unknown", city: "unknown" };
  }
}
