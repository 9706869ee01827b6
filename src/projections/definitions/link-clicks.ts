// What is answered together about the hits of a link: its totals, breakdowns and recent clicks (interface, part 2).
import type { LinkClicked } from "../../events/catalogue.ts";
import { PREFIX } from "../../events/streams.ts";
import { type ClickKind, UNKNOWN, UTM_FIELDS, type UtmField } from "../../events/vocabulary.ts";
import type { Document } from "../../read-store/port.ts";
import type { Projection } from "../projection.ts";
import { clickRank } from "./click-rank.ts";
import { addRecent, type RecentClickRow } from "./recent-clicks.ts";
import { addOne, type Tally } from "./tally.ts";

/** Dimensions in which every hit counts, as `unknown` where it has no value, so that each sums to `totalClicks`. */
export const DIMENSIONS = ["devices", "countries", "cities", "browsers", "os", "referrers"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/**
 * `_id`: link key. `totalClicks` is the sum of the kinds. `rank`: see click-rank.ts. `utm`: only fields with values.
 * `recent`: newest first.
 */
export type LinkClicksDocument = Document &
  Record<ClickKind, number> &
  Record<Dimension, Tally> & {
    accountId: string;
    rank: number;
    totalClicks: number;
    firstAt: string;
    lastAt: string;
    utm: { [F in UtmField]?: Tally };
    recent: RecentClickRow[];
  };

export const linkClicks: Projection<LinkClicksDocument> = {
  name: "link-clicks",
  version: 1,
  collection: {
    name: "link-clicks",
    indexes: [["accountId", "rank"]],
    columns: ["accountId", "rank", "totalClicks"],
  },
  prefixes: [PREFIX.clicks],
  handles: ["LinkClicked"],
  key: (event) => (event.data as LinkClicked["data"]).link,
  empty(event) {
    const { accountId, at } = event.data as LinkClicked["data"];
    return {
      accountId,
      rank: 0,
      totalClicks: 0,
      click: 0,
      preview: 0,
      qr_scan: 0,
      firstAt: at,
      lastAt: at,
      devices: [],
      countries: [],
      cities: [],
      browsers: [],
      os: [],
      referrers: [],
      utm: {},
      recent: [],
    };
  },
  evolve(clicks, event) {
    if (event.type !== "LinkClicked") return clicks;
    const click = event.data;
    clicks.totalClicks += 1;
    clicks.rank = clickRank(clicks.totalClicks);
    clicks[click.kind] += 1;
    // Clicks of several writers, or from a spool, are appended out of order.
    if (click.at < clicks.firstAt) clicks.firstAt = click.at;
    if (click.at > clicks.lastAt) clicks.lastAt = click.at;
    addOne(clicks.devices, click.device);
    addOne(clicks.countries, click.country || UNKNOWN);
    addOne(clicks.cities, cityName(click));
    addOne(clicks.browsers, click.browser.name || UNKNOWN);
    addOne(clicks.os, click.os.name || UNKNOWN);
    addOne(clicks.referrers, click.referrerHost || UNKNOWN);
    for (const field of UTM_FIELDS) {
      const value = click.utm[field];
      if (!value) continue;
      clicks.utm[field] ??= [];
      addOne(clicks.utm[field], value);
    }
    addRecent(clicks.recent, click);
    return clicks;
  },
};

/** With its country, as `Paris, FR` and `Paris, US` are two cities. */
function cityName({ city, country }: LinkClicked["data"]): string {
  if (!city || city === UNKNOWN) return UNKNOWN;
  return country && country !== UNKNOWN ? `${city}, ${country}` : city;
}
