// A link's breakdowns by country, device, referrer etc. as ranked bars; SVG widths need neither scripts nor inline
// styles.
import type { UtmField } from "../../events/vocabulary.ts";
import type { Dimension } from "../../projections/definitions/click-dimensions.ts";
import { OTHER, type ValueCount } from "../../projections/definitions/tally.ts";
import type { RangeSum } from "../../queries/analytics/ranges/range-sum.ts";
import { count } from "../links/link-view.ts";
import { type Html, html } from "../shell/html.ts";

const SHOWN = 8;
const MOST_LISTED = 100;

const TITLES: Readonly<Record<Dimension, string>> = {
  countries: "Countries",
  cities: "Cities",
  referrers: "Referrers",
  devices: "Devices",
  browsers: "Browsers",
  os: "Operating systems",
};

const UTM_TITLES: Readonly<Record<UtmField, string>> = {
  source: "UTM source",
  medium: "UTM medium",
  campaign: "UTM campaign",
  term: "UTM term",
  content: "UTM content",
};

const regions = new Intl.DisplayNames("en", { type: "region", fallback: "none" });

/** `FR` becomes `France`; other values are not country codes and go through `plainName`. */
export function countryName(code: string): string {
  if (!/^[A-Z]{2}$/.test(code)) return plainName(code);
  return regions.of(code) ?? code;
}

export function breakdownCards({
  breakdowns,
  utm,
  totals,
}: Pick<RangeSum, "breakdowns" | "utm" | "totals">): Html {
  const cards = (Object.keys(TITLES) as Dimension[]).map((dimension) =>
    card(TITLES[dimension], breakdowns[dimension], totals.total, NAMES[dimension] ?? plainName),
  );
  const given = (Object.keys(UTM_TITLES) as UtmField[]).filter((name) => utm[name].length > 0);
  const utmCards = given.map((name) => card(UTM_TITLES[name], utm[name], totals.total, String));
  return html`<div class="grid" id="breakdowns">${cards}${utmCards}</div>`;
}

const NAMES: Partial<Record<Dimension, (value: string) => string>> = {
  countries: countryName,
  cities: cityName,
  referrers: (value) => (value === "direct" ? "Direct, or not said" : plainName(value)),
  devices: deviceName,
};

function card(
  title: string,
  tally: readonly ValueCount[],
  total: number,
  nameOf: (value: string) => string,
): Html {
  const bars = (pairs: readonly ValueCount[]) =>
    pairs.map(([value, hits]) => bar(nameOf(value), hits, total));
  return html`<section class="card"><h2>${title}</h2>${
    tally.length === 0
      ? html`<p class="muted">None in this time.</p>`
      : html`<ul class="plain bars">${bars(tally.slice(0, SHOWN))}</ul>`
  }${
    tally.length > SHOWN &&
    html`<details class="more"><summary>${count(Math.min(tally.length, MOST_LISTED) - SHOWN)} more</summary><ul class="plain bars">${bars(tally.slice(SHOWN, MOST_LISTED))}</ul></details>`
  }</section>`;
}

function bar(name: string, hits: number, total: number): Html {
  const share = total === 0 ? 0 : (hits / total) * 100;
  return html`<li><svg class="bar" preserveAspectRatio="none" viewBox="0 0 100 1" aria-hidden="true"><rect width="${share.toFixed(2)}" height="1"/></svg>
<span class="bar-name clip" title="${name}">${name}</span><span class="number">${count(hits)}</span><span class="bar-share number">${share.toFixed(share < 10 ? 1 : 0)}%</span></li>`;
}

export function deviceName(value: string): string {
  return value === "bot" ? "Bot" : plainName(value);
}

function cityName(city: string): string {
  const [, name, code] = /^(.*), ([A-Z]{2})$/.exec(city) ?? [];
  return name !== undefined && code !== undefined ? `${name}, ${countryName(code)}` : plainName(city);
}

function plainName(value: string): string {
  if (value === "unknown") return "Unknown";
  if (value === OTHER) return "All others";
  return value === "mobile" || value === "desktop" || value === "tablet"
    ? value.charAt(0).toUpperCase() + value.slice(1)
    : value;
}
