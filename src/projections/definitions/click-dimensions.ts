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
  const { device, country, browser, os, referrer } = click;
  return [
    device,
    country ?? UNKNOWN,
    placeName(click.city, country),
    browser?.name ?? UNKNOWN,
    os?.name ?? UNKNOWN,
    referrerHostOf(referrer),
  ];
}

/** Of a city or region, with its country, as `Paris, FR` and `Paris, US` are two cities. */
export function placeName(place: string | undefined, country: string | undefined): string {
  if (place === undefined) return UNKNOWN;
  return country === undefined ? place : `${place}, ${country}`;
}
