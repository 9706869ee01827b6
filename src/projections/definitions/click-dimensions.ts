// What a hit is broken down by: the value that it counts as in each dimension.
import type { LinkClicked } from "../../events/catalogue.ts";
import { referrerHostOf } from "../../events/click-facts.ts";
import { UNKNOWN } from "../../events/vocabulary.ts";

type Click = LinkClicked["data"];

/** Dimensions in which every hit counts, as `unknown` where it has no value, so that each sums to the number of hits. */
export const DIMENSIONS = ["devices", "countries", "cities", "browsers", "os", "referrers"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** The click's value in each of DIMENSIONS, in their order. */
export function dimensionValues(click: Click): string[] {
  const { device, country = UNKNOWN, browser, os, referrer } = click;
  return [
    device,
    country,
    cityName(click),
    browser?.name ?? UNKNOWN,
    os?.name ?? UNKNOWN,
    referrerHostOf(referrer),
  ];
}

/** With its country, as `Paris, FR` and `Paris, US` are two cities. */
function cityName({ city, country }: Click): string {
  if (city === undefined) return UNKNOWN;
  return country === undefined ? city : `${city}, ${country}`;
}
