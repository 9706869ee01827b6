// The columns of a click table: what questions filter and group clicks by, and what a click counts as in each of them.
import type { LinkClicked } from "../../../events/catalogue.ts";
import { referrerHostOf } from "../../../events/click-facts.ts";
import { UNKNOWN, UTM_FIELDS, type UtmField } from "../../../events/vocabulary.ts";
import { shortDestination } from "../rule-hits.ts";
import { bounded } from "../summaries/tally.ts";
import { shortCode } from "../summaries/visitors.ts";

type UtmColumn = `utm_${UtmField}`;
const UTM_COLUMNS = UTM_FIELDS.map((field): UtmColumn => `utm_${field}`);

/**
 * Each has a text a row. `kind`: as recorded; `judged`: under the build's rules, which is what counts. `region`, `city`: with
 * their country. `destination`: where a rule led. `visitor`: the code that people of the account are told apart by on a day.
 */
export const COLUMNS = [
  ...(["link", "kind", "judged", "country", "region", "city", "referrer"] as const),
  ...(["device", "browser", "os", "language"] as const),
  ...UTM_COLUMNS,
  ...(["rule", "destination", "visitor"] as const),
] as const;
export type ColumnName = (typeof COLUMNS)[number];

/** The click's text in each of COLUMNS, in their order; "" for none. `recorded`: its kind before it was classified again. */
export function textsOf(click: LinkClicked["data"], recorded = click.kind): string[] {
  const { country, browser, os, language = UNKNOWN, utm, rule = "", accountVisitor, visitor = "" } = click;
  return [
    click.link,
    recorded,
    click.kind,
    country ?? UNKNOWN,
    bounded(placeName(click.region, country)),
    bounded(placeName(click.city, country)),
    bounded(referrerHostOf(click.referrer)),
    click.device,
    bounded(browser?.name ?? UNKNOWN),
    bounded(os?.name ?? UNKNOWN),
    bounded(language),
    bounded(utm?.source ?? ""),
    bounded(utm?.medium ?? ""),
    bounded(utm?.campaign ?? ""),
    bounded(utm?.term ?? ""),
    bounded(utm?.content ?? ""),
    rule,
    rule === "" ? "" : shortDestination(click.longUrl),
    shortCode(accountVisitor ?? visitor),
  ];
}

/** Of a city or region, with its country, as `Paris, FR` and `Paris, US` are two cities. */
export function placeName(place: string | undefined, country: string | undefined): string {
  if (place === undefined) return UNKNOWN;
  return country === undefined ? place : `${place}, ${country}`;
}
