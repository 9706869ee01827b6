// Turns the raw values of hits into members of LinkClicked: classified, parsed, and without data that identifies a person.

import { isQrScan, kindOf, PRESENT_RULES } from "../../classification/classify.ts";
import { cleanText } from "../../classification/clean-text.ts";
import { type Referrer, referrerOf } from "../../classification/referrer.ts";
import { agentOf } from "../../classification/user-agent.ts";
import type { LinkClicked } from "../../events/catalogue.ts";
import { partOf } from "../../events/new-event.ts";
import type { ClickKind } from "../../events/vocabulary.ts";
import { memoize, memoizeByObject } from "../../runtime/memoize.ts";
import { anonymiseIp } from "./enrich/anonymise-ip.ts";
import { type Geo, nowhere, type Place } from "./enrich/geo.ts";
import { primaryLanguage } from "./enrich/language.ts";
import { queryOf, utmOf } from "./enrich/utm.ts";
import { type PackedTarget, type RawHit, unpackTarget } from "./hit.ts";

type Data = LinkClicked["data"];

/** Members of LinkClicked that depend on the same raw value, so that a batch needs each combination once. */
export const PARTS = {
  link: ["link", "slug", "linkRevision", "shortUrl", "longUrl"],
  owner: ["accountId", "via"],
  utm: ["utm"],
  request: ["kind", "rules", "botList", "agentParser", "method", "prefetch"],
  agent: ["userAgent"],
  client: ["device", "browser", "os"],
  place: ["country", "region", "city"],
  referrer: ["referrer", "referrerHost"],
  language: ["language"],
} as const satisfies Record<string, readonly (keyof Data)[]>;

type Part<P extends keyof typeof PARTS> = Pick<Data, (typeof PARTS)[P][number]>;
export type ClickParts = { [P in keyof typeof PARTS]: Part<P> };

/** The members of LinkClicked that a hit alone decides. Equal raw values usually give the same objects. */
export type EnrichedHit = ClickParts & Pick<Data, "ip">;

/** @throws EventInvalid when a part does not match the schema of LinkClicked, whatever bytes the hit contains */
export type Enrich = (hit: RawHit) => EnrichedHit;

/** Memoizes parsing and validation of repeated inputs. Raw addresses are never cached. */
export function enricher(geo: Geo): Enrich {
  const checked = {
    link: partOf("LinkClicked", PARTS.link),
    request: partOf("LinkClicked", PARTS.request),
    agent: partOf("LinkClicked", PARTS.agent),
    place: partOf("LinkClicked", PARTS.place),
    referrer: partOf("LinkClicked", PARTS.referrer),
    language: partOf("LinkClicked", PARTS.language),
  };
  const owner = shared(partOf("LinkClicked", PARTS.owner));
  const utm = shared(partOf("LinkClicked", PARTS.utm));
  const client = shared(partOf("LinkClicked", PARTS.client));
  const linkOf = (packed: PackedTarget, query: string) => {
    const { key, slug, revision, shortUrl, longUrl, accountId, via } = unpackTarget(packed);
    return {
      link: checked.link({ link: key, slug, linkRevision: revision, shortUrl, longUrl }),
      owner: owner({ accountId, via }),
      utm: utm({ utm: { ...utmOf(queryOf(longUrl)), ...utmOf(query) } }),
    };
  };
  const link = memoize(20_000, (packed: PackedTarget) => linkOf(packed, ""));
  // JSON has no line breaks, so the first one ends the packed target.
  const linkWithUtm = memoize(2_000, (packedAndQuery: string) => {
    const end = packedAndQuery.indexOf("\n");
    return linkOf(packedAndQuery.slice(0, end), packedAndQuery.slice(end + 1));
  });
  const agent = memoize(10_000, (header: string) => {
    const { automated, userAgent, ...part } = agentOf(header);
    return { automated, agent: checked.agent({ userAgent }), client: client(part) };
  });
  const referrer = memoize(5_000, (header: string): Referrer => checked.referrer(referrerOf(header)));
  const language = memoize(2_000, (header: string) =>
    checked.language({ language: primaryLanguage(header) }),
  );
  const place = memoizeByObject((located: Place) => checked.place(located));
  const request = memoize(1_000, (text: string) => {
    const [kind, method, prefetch = ""] = text.split("\n");
    return checked.request({
      kind: kind as ClickKind,
      ...PRESENT_RULES,
      method: method as Data["method"],
      prefetch,
    });
  });
  return (hit) => {
    const browser = agent(hit.userAgent);
    const prefetch = cleanText(hit.prefetch, 128);
    const isScan = isQrScan(hit.query);
    const kind = kindOf({ method: hit.method, isScan, prefetch, automated: browser.automated });
    const target = hit.query.includes("utm_") ? linkWithUtm(`${hit.link}\n${hit.query}`) : link(hit.link);
    return {
      link: target.link,
      owner: target.owner,
      utm: target.utm,
      request: request(`${kind}\n${hit.method}\n${prefetch}`),
      agent: browser.agent,
      client: browser.client,
      place: place(placeOrNowhere(geo, hit.address)),
      referrer: referrer(hit.referrer),
      language: language(hit.language),
      ip: anonymiseIp(hit.address),
    };
  };
}

/** Of clicks that don't go to the log in columns. */
export function clickData(hit: EnrichedHit, own: Pick<Data, "at" | "visitor" | "accountVisitor">): Data {
  const { link, owner, utm, request, agent, client, place, referrer, language, ip } = hit;
  return {
    ...link,
    ...owner,
    ...utm,
    ...request,
    ...agent,
    ...client,
    ...place,
    ...referrer,
    ...language,
    ip,
    ...own,
  };
}

/** Returns the same object for equal parts, so that a batch has their row once. */
function shared<P extends object>(check: (part: P) => P): (part: P) => P {
  const partOfText = memoize(10_000, (text: string) => check(JSON.parse(text) as P));
  return (part) => partOfText(JSON.stringify(part));
}

/** A lookup that fails, for example in a damaged database, gives `unknown` instead of losing the click. */
function placeOrNowhere(geo: Geo, address: string): Place {
  try {
    return geo.locate(address);
  } catch {
    return nowhere;
  }
}
