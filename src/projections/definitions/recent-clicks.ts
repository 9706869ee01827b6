// The last ten hits of a link by people and the last ten by bots, newest first; the first ten of them are the last ten of
// all (interface, part 2: recentClicks).
import type { LinkClicked } from "../../events/catalogue.ts";
import { referrerOf } from "../../events/click-facts.ts";
import {
  type ClickKind,
  type DeviceType,
  RECENT_CLICKS,
  UNKNOWN,
  type UtmField,
} from "../../events/vocabulary.ts";
import { bounded } from "./tally.ts";

type Utm = { [F in UtmField]?: string };

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
  utm: Utm;
};

/** A hit as it is stored: the fields of RecentClick in their order, without their names; `utm` only when it has any. */
export type RecentClickRow = [
  at: string,
  type: ClickKind,
  device: DeviceType,
  browser: string,
  browserVersion: string,
  os: string,
  userAgent: string,
  country: string,
  city: string,
  ip: string,
  referrer: string,
  utm?: Utm,
];

/**
 * Adds the hit in place, if it is one of the ten latest by people, or by bots. Sorted by the time of the hit, as hits of
 * other writers or from a journal are appended later.
 */
export function addRecent(rows: RecentClickRow[], click: LinkClicked["data"]): void {
  const isBot = click.kind === "preview";
  let [place, newer, older, last] = [0, 0, 0, 0];
  for (let n = 0; n < rows.length; n++) {
    const [at, kind] = rows[n] as RecentClickRow;
    const isNewer = at > click.at;
    if (isNewer) place = n + 1;
    if ((kind === "preview") !== isBot) continue;
    last = n;
    if (isNewer) newer += 1;
    else older += 1;
  }
  if (newer === RECENT_CLICKS) return;
  if (newer + older === RECENT_CLICKS) rows.splice(last, 1);
  // Nearly all hits are the newest, and `splice` is slower than `unshift`.
  if (place === 0) rows.unshift(rowOf(click));
  else rows.splice(place, 0, rowOf(click));
}

/** A stored hit with the field names of the API's answer. */
export function recentClick(row: RecentClickRow): RecentClick {
  const [at, type, device, browser, version, os, userAgent, country, city, ip, referrer, utm = {}] = row;
  return {
    at,
    type,
    device,
    browser,
    browser_version: version,
    os,
    user_agent: userAgent,
    country,
    city,
    ip,
    referrer,
    utm,
  };
}

function rowOf(click: LinkClicked["data"]): RecentClickRow {
  const { at, kind, device, browser, os, userAgent = "", country = UNKNOWN, city = UNKNOWN, ip = "" } = click;
  const { name = UNKNOWN, version = "" } = browser ?? {};
  const referrer = referrerOf(click);
  const row: RecentClickRow = [
    at,
    kind,
    device,
    name,
    version,
    os?.name ?? UNKNOWN,
    userAgent,
    country,
    city,
    ip,
    referrer,
  ];
  const utm = utmOf(click.utm);
  if (utm) row.push(utm);
  return row;
}

function utmOf(written: LinkClicked["data"]["utm"]): Utm | undefined {
  let utm: Utm | undefined;
  for (const field in written) {
    const value = written[field as UtmField];
    if (value) {
      utm ??= {};
      utm[field as UtmField] = bounded(value);
    }
  }
  return utm;
}
