// What a click counts as in each field that clicks are grouped and filtered by.
import type { LinkClicked } from "../../../events/catalogue.ts";
import { referrerHostOf } from "../../../events/click-facts.ts";
import { UNKNOWN, UTM_FIELDS, type UtmField } from "../../../events/vocabulary.ts";
import { placeName } from "../../../projections/definitions/click-dimensions.ts";
import { bounded } from "../../../projections/definitions/tally.ts";
import { DAY_MS, type TimeZone } from "../time-zone.ts";
import type { GroupBy } from "./question.ts";

/** `local`: when it happened, in the zone that is asked for (time-zone.ts). `tags`: that its link has now. */
export type Hit = { click: LinkClicked["data"]; local: number; tags: readonly string[] };

type ValuesOf = (hit: Hit) => readonly string[];

/** 1970-01-01 was a Thursday. */
const THURSDAY = 4;

export const VALUES: Readonly<Record<GroupBy, ValuesOf>> = {
  link: ({ click }) => [click.link],
  tag: ({ tags }) => tags,
  domain: ({ click }) => [hostOf(click.link)],
  country: ({ click }) => [click.country ?? UNKNOWN],
  region: ({ click }) => [bounded(placeName(click.region, click.country))],
  city: ({ click }) => [bounded(placeName(click.city, click.country))],
  referrer: ({ click }) => [bounded(referrerHostOf(click.referrer))],
  device: ({ click }) => [click.device],
  browser: ({ click }) => [bounded(click.browser?.name ?? UNKNOWN)],
  os: ({ click }) => [bounded(click.os?.name ?? UNKNOWN)],
  language: ({ click }) => [bounded(click.language ?? UNKNOWN)],
  ...(Object.fromEntries(UTM_FIELDS.map((field) => [`utm_${field}`, utmValue(field)])) as Record<
    `utm_${UtmField}`,
    ValuesOf
  >),
  rule: ({ click }) => (click.rule === undefined ? [] : [click.rule]),
  kind: ({ click }) => [click.kind],
  hour: ({ local }) => [localHour(local)],
  day: ({ local }) => [localDay(local)],
  weekday: ({ local }) => [localWeekday(local)],
};

function utmValue(field: UtmField): ValuesOf {
  return ({ click }) => (click.utm?.[field] ? [bounded(click.utm[field])] : []);
}

/** Of a link's key. */
export function hostOf(link: string): string {
  return link.slice(0, link.indexOf("/"));
}

/** When an instant is in the zone, as the functions below take it. */
export function localTime(zone: TimeZone, instant: number): number {
  return instant + zone.offsetAt(instant);
}

/** `00` to `23`. */
export function localHour(local: number): string {
  return new Date(local).toISOString().slice(11, 13);
}

/** YYYY-MM-DD. */
export function localDay(local: number): string {
  return new Date(local).toISOString().slice(0, 10);
}

/** `1` for Monday to `7`. */
export function localWeekday(local: number): string {
  const day = Math.floor(local / DAY_MS) + THURSDAY - 1;
  return String((((day % 7) + 7) % 7) + 1);
}
