// Breakdowns of each link: every hit counts once in each dimension, so each sums to totalClicks; utm counts given values.
import type { LinkClicked } from "../../events/catalogue.ts";
import { PREFIX } from "../../events/streams.ts";
import { UNKNOWN, UTM_FIELDS, type UtmField } from "../../events/vocabulary.ts";
import type { Document } from "../../read-store/port.ts";
import type { Projection } from "../projection.ts";
import { addOne, type Tally } from "./tally.ts";

/** Dimensions in which every hit counts, as `unknown` where it has no value. */
export const DIMENSIONS = ["devices", "countries", "cities", "browsers", "os", "referrers"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** `_id`: link key. */
export type LinkBreakdownsDocument = Document &
  Record<Dimension, Tally> & { link: string; utm: Record<UtmField, Tally> };

export const linkBreakdowns: Projection<LinkBreakdownsDocument> = {
  name: "link-breakdowns",
  version: 1,
  collection: { name: "link-breakdowns", indexes: [] },
  prefixes: [PREFIX.clicks],
  handles: ["LinkClicked"],
  key: (event) => (event.data as LinkClicked["data"]).link,
  empty: (event) => ({
    link: (event.data as LinkClicked["data"]).link,
    devices: [],
    countries: [],
    cities: [],
    browsers: [],
    os: [],
    referrers: [],
    utm: { source: [], medium: [], campaign: [], term: [], content: [] },
  }),
  evolve(breakdowns, event) {
    if (event.type !== "LinkClicked") return breakdowns;
    const click = event.data;
    addOne(breakdowns.devices, click.device);
    addOne(breakdowns.countries, click.country || UNKNOWN);
    addOne(breakdowns.cities, cityName(click));
    addOne(breakdowns.browsers, click.browser.name || UNKNOWN);
    addOne(breakdowns.os, click.os.name || UNKNOWN);
    addOne(breakdowns.referrers, click.referrerHost || UNKNOWN);
    for (const field of UTM_FIELDS) {
      const value = click.utm[field];
      if (value) addOne(breakdowns.utm[field], value);
    }
    return breakdowns;
  },
};

/** With its country, as `Paris, FR` and `Paris, US` are two cities. */
function cityName({ city, country }: LinkClicked["data"]): string {
  if (!city || city === UNKNOWN) return UNKNOWN;
  return country && country !== UNKNOWN ? `${city}, ${country}` : city;
}
