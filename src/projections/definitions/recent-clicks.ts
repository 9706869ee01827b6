// The last ten hits of each link, newest first (interface, part 2: recentClicks; item fields: DESIGN §7).
import type { LinkClicked } from "../../events/catalogue.ts";
import { PREFIX } from "../../events/streams.ts";
import {
  type ClickKind,
  type DeviceType,
  RECENT_CLICKS,
  UTM_FIELDS,
  type UtmField,
} from "../../events/vocabulary.ts";
import type { Document } from "../../read-store/port.ts";
import type { Projection } from "../projection.ts";
import { bounded } from "./tally.ts";

/** One hit as analytics shows it; `ip` is anonymised. */
export type RecentClick = {
  at: string;
  type: ClickKind;
  device: DeviceType;
  browser: string;
  browser_version: string;
  os: string;
  user_agent: string;
  country: string;
  city: string;
  ip: string;
  referrer: string;
  utm: { [F in UtmField]?: string };
};

/** `_id`: link key. */
export type RecentClicksDocument = Document & { link: string; clicks: RecentClick[] };

export const recentClicks: Projection<RecentClicksDocument> = {
  name: "recent-clicks",
  version: 1,
  collection: { name: "recent-clicks", indexes: [] },
  prefixes: [PREFIX.clicks],
  handles: ["LinkClicked"],
  key: (event) => (event.data as LinkClicked["data"]).link,
  empty: (event) => ({ link: (event.data as LinkClicked["data"]).link, clicks: [] }),
  evolve(recent, event) {
    if (event.type !== "LinkClicked") return recent;
    const { clicks } = recent;
    // Sorted by the time of the hit, as hits of other writers or from a spool are appended later.
    const place = clicks.findIndex(({ at }) => at <= event.data.at);
    if (place === -1 && clicks.length >= RECENT_CLICKS) return recent;
    clicks.splice(place === -1 ? clicks.length : place, 0, recentClickOf(event.data));
    if (clicks.length > RECENT_CLICKS) clicks.pop();
    return recent;
  },
};

/** A hit with the field names of the API's answer. */
export function recentClickOf(click: LinkClicked["data"]): RecentClick {
  const utm: RecentClick["utm"] = {};
  for (const field of UTM_FIELDS) {
    const value = click.utm[field];
    if (value) utm[field] = bounded(value);
  }
  return {
    at: click.at,
    type: click.kind,
    device: click.device,
    browser: click.browser.name,
    browser_version: click.browser.version,
    os: click.os.name,
    user_agent: click.userAgent,
    country: click.country,
    city: click.city,
    ip: click.ip,
    referrer: click.referrer,
    utm,
  };
}
