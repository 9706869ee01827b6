// Turns the raw values of hits into LinkClicked events: classified, parsed, and without data that identifies a person.
import { catalogue, type LinkClicked } from "../../events/catalogue.ts";
import { isQrScan, kindOf, PRESENT_RULES } from "../../events/classification/classify.ts";
import { cleanText } from "../../events/classification/clean-text.ts";
import { referrerOf } from "../../events/classification/referrer.ts";
import { agentOf } from "../../events/classification/user-agent.ts";
import { clickStream } from "../../events/streams.ts";
import { type ClickKind, UNKNOWN, UTM_FIELDS, type UtmField } from "../../events/vocabulary.ts";
import { messageOf } from "../../runtime/errors.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { memoize } from "../../runtime/memoize.ts";
import { numberedIds } from "../../runtime/time-ordered-id.ts";
import type { NewEvent } from "../../stores/event-store/port.ts";
import { anonymiseIp } from "./enrich/anonymise-ip.ts";
import { type Geo, nowhere, type Place } from "./enrich/geo.ts";
import { primaryLanguage } from "./enrich/language.ts";
import { type HitBatch, hitsOf, type PackedTarget, type RawHit, unpackTarget } from "./hit.ts";
import type { VisitorOf } from "./visitors/visitor.ts";

type Click = LinkClicked["data"];

const UTM_LENGTH = 128;

/** `visitorOf`: of the hit's day. */
export type ClickOf = (hit: RawHit, visitorOf: VisitorOf) => LinkClicked;

/** Memoizes the parsing of texts that repeat. Raw addresses are never cached. */
export function clickReader(geo: Geo): ClickOf {
  const linkOf = memoize(20_000, (packed: PackedTarget) => {
    const { key, revision, ...target } = unpackTarget(packed);
    const { longUrl } = target;
    return {
      link: { link: key, linkRevision: revision, ...target },
      utm: utmOf(URL.parse(longUrl)?.search.slice(1) ?? ""),
    };
  });
  const agent = memoize(10_000, agentOf);
  const referrer = memoize(5_000, referrerOf);
  const language = memoize(2_000, primaryLanguage);
  const isoTime = lastOf((at: number) => new Date(at).toISOString());
  return (hit, visitorOf) => {
    const { method, query, address } = hit;
    const { link, utm } = linkOf(hit.link);
    const { automated, userAgent, device, browser, os } = agent(hit.userAgent);
    const prefetch = prefetchOf(hit);
    const kind = kindOfHit(hit, automated);
    const data: Click = {
      ...link,
      at: isoTime(hit.at),
      kind,
      rules: PRESENT_RULES,
      method,
      device,
      visitor: visitorOf({ address, userAgent, of: link.link }),
      accountVisitor: visitorOf({ address, userAgent, of: link.accountId }),
    };
    if (browser) data.browser = browser;
    if (os) data.os = os;
    addText(data, {
      userAgent,
      ip: anonymiseIp(address),
      prefetch,
      referrer: referrer(hit.referrer),
      language: language(hit.language),
    });
    addPlace(data, placeOfHit(geo, hit));
    // The short URL's query goes before the destination's.
    addUtm(data, query.includes("utm_") ? { ...utm, ...utmOf(query) } : utm);
    return { type: "LinkClicked", data };
  };
}

type Utm = Partial<Record<UtmField, string>>;

/** `query`: without `?`. Exact names `utm_<field>`, first value, trimmed; empty values are omitted. */
export function utmOf(query: string): Utm {
  const utm: Utm = {};
  if (!query.includes("utm_")) return utm;
  const parameters = new URLSearchParams(query);
  for (const field of UTM_FIELDS) {
    const value = cleanText(parameters.get(`utm_${field}`) ?? "", UTM_LENGTH);
    if (value !== "") utm[field] = value;
  }
  return utm;
}

/** `lost`: hits that could not be turned into an event, which trying again can't mend. */
export type BatchReader = (
  batch: HitBatch,
) => Promise<{ clicks: { stream: string; events: NewEvent[] }[]; lost: number }>;

export type BatchReaderDeps = {
  clickOf: ClickOf;
  visitors: (at: number) => Promise<VisitorOf>;
  /** Lower-case hex, at least 16 digits, unique to this run of the process: the only writer of its streams. */
  writer: string;
  log: Pick<BasicLogger, "warn">;
};

const DAY_MS = 86_400_000;

/**
 * The events of a batch by stream, which follows from the hit's own time, so that a batch across midnight is split
 * identically when it is read again; so do the ids. Nothing checks them against their schema: what this file makes of any
 * bytes is tested, and \`audit verify\` checks what is in the log.
 */
export function batchReader({ clickOf, visitors, writer, log }: BatchReaderDeps): BatchReader {
  const idOf = numberedIds(writer);
  const metadata = { schemaVersion: catalogue.LinkClicked.version };
  return async (batch) => {
    const byStream = new Map<string, NewEvent[]>();
    let day = Number.NaN;
    let visitorOf: VisitorOf = () => "";
    let events: NewEvent[] = [];
    let lost = 0;
    for (const { number, hit } of hitsOf(batch)) {
      const hitDay = Math.floor(hit.at / DAY_MS);
      if (hitDay !== day) {
        day = hitDay;
        visitorOf = await visitors(hit.at);
        const stream = clickStream(writer, new Date(hit.at));
        events = byStream.get(stream) ?? [];
        byStream.set(stream, events);
      }
      try {
        events.push({ id: idOf(hit.at, number), ...clickOf(hit, visitorOf), metadata });
      } catch (err) {
        lost++;
        log.warn({ err }, `A hit on ${unpackTarget(hit.link).key} makes no event: ${messageOf(err)}`);
      }
    }
    const clicks = [...byStream].map(([stream, of]) => ({ stream, events: of }));
    return { clicks: clicks.filter((of) => of.events.length > 0), lost };
  };
}

/** `automated`: what its user agent says. */
export function kindOfHit(hit: RawHit, automated: boolean): ClickKind {
  const { method, query } = hit;
  return kindOf({ method, isScan: isQrScan(query), prefetch: prefetchOf(hit), automated });
}

/** Hits of one millisecond follow each other. */
function lastOf<K, V>(compute: (input: K) => V): (input: K) => V {
  let last: { input: K; result: V } | undefined;
  return (input) => {
    if (last?.input !== input) last = { input, result: compute(input) };
    return last.result;
  };
}

function prefetchOf({ prefetch }: RawHit): string {
  return cleanText(prefetch, 128);
}

/** Adds what is not empty. */
function addText(
  data: Click,
  texts: Required<Pick<Click, "userAgent" | "ip" | "prefetch" | "referrer" | "language">>,
): void {
  for (const name of ["userAgent", "ip", "prefetch", "referrer", "language"] as const)
    if (texts[name]) data[name] = texts[name];
}

/** Adds what is known. */
export function addPlace(data: Click, place: Place): void {
  for (const name of ["country", "region", "city"] as const)
    if (place[name] !== UNKNOWN && place[name] !== "") data[name] = place[name];
}

/** Adds the fields, if there are any. */
function addUtm(data: Click, utm: Utm): void {
  for (const _ in utm) {
    data.utm = utm;
    return;
  }
}

/** The proxy's country goes before the database's, whose region and city are kept where it agrees. */
function placeOfHit(geo: Geo, { address, country }: RawHit): Place {
  const place = placeOrNowhere(geo, address);
  return country === "" || country === place.country ? place : { ...nowhere, country };
}

/** A lookup that fails, for example in a damaged database, gives `unknown` instead of losing the click. */
export function placeOrNowhere(geo: Geo, address: string): Place {
  try {
    return geo.locate(address);
  } catch {
    return nowhere;
  }
}
