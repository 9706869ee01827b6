// What rules need to know of a visit, from the same values that its click is recorded from, so that both agree.

import { createHmac, createSecretKey } from "node:crypto";
import { systemOf } from "../../events/classification/systems.ts";
import { agentOf } from "../../events/classification/user-agent.ts";
import { UNKNOWN } from "../../events/vocabulary.ts";
import { addressOf } from "../../runtime/addresses/networks.ts";
import { memoize } from "../../runtime/memoize.ts";
import { derivedKey } from "../../stores/secrets/derived-key.ts";
import { kindOfHit } from "../clicks/click-event.ts";
import { primaryLanguage } from "../clicks/enrich/language.ts";
import type { RawHit } from "../clicks/hit.ts";
import type { Visit } from "./first-rule.ts";

/**
 * `isPerson`: of a click or a scan, which the link's limit counts. `needsCountry`: a condition has read the country, and
 * nobody has named it.
 */
export type ReadVisit = Visit & { readonly isPerson: boolean; readonly needsCountry: boolean };

/** `link`: `<host>/<slug>`. */
export type VisitOf = (link: string, hit: RawHit) => ReadVisit;

/** Memoizes the parsing of texts that repeat. `secretKey`: SECRET_KEY, the same in all processes. */
export function visitReader(secretKey: string): VisitOf {
  const agent = memoize(2_000, agentOf);
  const language = memoize(2_000, primaryLanguage);
  const lotOf = dailyLots(secretKey);
  return (link, hit) => {
    let parameters: Visit["parameters"] | undefined;
    let lot: number | undefined;
    let needsCountry = false;
    return {
      at: hit.at,
      get isPerson() {
        return kindOfHit(hit, agent(hit.userAgent).automated) !== "preview";
      },
      get device() {
        return agent(hit.userAgent).device;
      },
      get os() {
        return systemOf(agent(hit.userAgent).os?.name);
      },
      get country() {
        needsCountry = hit.country === "";
        return hit.country || UNKNOWN;
      },
      get needsCountry() {
        return needsCountry;
      },
      get language() {
        return language(hit.language);
      },
      get parameters() {
        parameters ??= firstParameters(hit.query);
        return parameters;
      },
      get lot() {
        lot ??= lotOf(link, hit);
        return lot;
      },
    };
  };
}

/** As a browser's address bar holds a few dozen, and a flood of them would hold up everybody's redirects. */
const MOST_PARAMETERS = 200;

/** Values by name. */
function firstParameters(query: string): Visit["parameters"] {
  let end = query.indexOf("&");
  for (let read = 1; read < MOST_PARAMETERS && end >= 0; read++) end = query.indexOf("&", end + 1);
  const parameters = new Map<string, Set<string>>();
  for (const [name, value] of new URLSearchParams(end < 0 ? query : query.slice(0, end))) {
    const values = parameters.get(name);
    if (values) values.add(value);
    else parameters.set(name, new Set([value]));
  }
  return parameters;
}

/** Bits of a number that a division keeps exact. */
const LOT_BYTES = 6;

/**
 * HMAC-SHA256 under a key of its own (HKDF, RFC 5869, from SECRET_KEY) of day, link, client and user agent, so
 * that nobody can choose their lot, and all processes draw the same one. It is kept nowhere.
 */
function dailyLots(secretKey: string): (link: string, hit: RawHit) => number {
  const key = createSecretKey(derivedKey(secretKey, "linkledger: lots of visitors"));
  return (link, { at, address, userAgent }) => {
    const day = Math.floor(at / 86_400_000);
    const drawn = createHmac("sha256", key)
      .update(JSON.stringify([day, link, addressOf(address), userAgent]))
      .digest();
    return (100 * drawn.readUIntBE(0, LOT_BYTES)) / 2 ** (8 * LOT_BYTES);
  };
}
