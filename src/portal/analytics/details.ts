// What is known of a link's clicks beside their number: breakdowns by country, device, referrer etc. as ranked bars, whose
// SVG widths need neither scripts nor inline styles; visitors of each day; and the latest clicks.
import { UTM_FIELDS } from "../../events/vocabulary.ts";
import type { Dimension } from "../../projections/definitions/click-dimensions.ts";
import type { RecentClick } from "../../projections/definitions/recent-clicks.ts";
import { OTHER, type ValueCount } from "../../projections/definitions/tally.ts";
import type { DayVisitors, LinkAnalytics } from "../../queries/analytics/analytics.ts";
import { count, counted } from "../links/link-view.ts";
import { time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { type Column, card, table } from "../shell/parts.ts";
import { live, type PageRange } from "./range-bar.ts";
import { KIND_NAMES } from "./series-figure.ts";

const SHOWN = 8;
const MOST_LISTED = 100;
const MOST_VISITOR_DAYS = 400;

const TITLES: Readonly<Record<Dimension, string>> = {
  countries: "Countries",
  cities: "Cities",
  referrers: "Referrers",
  devices: "Devices",
  browsers: "Browsers",
  os: "Operating systems",
};

const NAMES: Partial<Record<Dimension, (value: string) => string>> = {
  countries: countryName,
  cities: cityName,
  referrers: (value) => (value === "direct" ? "Direct, or not said" : plainName(value)),
};

const regions = new Intl.DisplayNames("en", { type: "region", fallback: "none" });

export function breakdownCards(range: PageRange, { breakdowns, utm, totals }: LinkAnalytics): Html {
  const cards = (Object.keys(TITLES) as Dimension[]).map((name) =>
    breakdownCard(TITLES[name], breakdowns[name], totals.total, NAMES[name] ?? plainName),
  );
  const given = UTM_FIELDS.filter((name) => utm[name].length > 0);
  const utmCards = given.map((name) => breakdownCard(`UTM ${name}`, utm[name], totals.total, String));
  return html`<div class="grid" id="breakdowns" ${live(range)}>${cards}${utmCards}</div>`;
}

function breakdownCard(
  title: string,
  values: readonly ValueCount[],
  total: number,
  nameOf: (value: string) => string,
): Html {
  if (values.length === 0) return card(title, html`<p class="muted">None in this time.</p>`);
  const bars = (part: readonly ValueCount[]) =>
    html`<ul class="plain bars">${part.map(([value, hits]) => bar(nameOf(value), hits, total))}</ul>`;
  const more = values.slice(SHOWN, MOST_LISTED);
  return card(
    title,
    html`${bars(values.slice(0, SHOWN))}${more.length > 0 && html`<details class="more"><summary>${count(more.length)} more</summary>${bars(more)}</details>`}`,
  );
}

function bar(name: string, hits: number, total: number): Html {
  const share = total === 0 ? 0 : (hits / total) * 100;
  return html`<li><svg class="bar" preserveAspectRatio="none" viewBox="0 0 100 1" aria-hidden="true"><rect width="${share.toFixed(2)}" height="1"/></svg>
<span class="bar-name clip" title="${name}">${name}</span><span class="number">${count(hits)}</span><span class="bar-share number">${share.toFixed(share < 10 ? 1 : 0)}%</span></li>`;
}

/** `FR` becomes `France`; other values are not country codes and go through `plainName`. */
function countryName(code: string): string {
  return (/^[A-Z]{2}$/.test(code) && regions.of(code)) || plainName(code);
}

function cityName(city: string): string {
  const [, name, code] = /^(.*), ([A-Z]{2})$/.exec(city) ?? [];
  return name !== undefined && code !== undefined ? `${name}, ${countryName(code)}` : plainName(city);
}

function plainName(value: string): string {
  if (value === OTHER) return "All others";
  return /^(unknown|mobile|desktop|tablet|bot)$/.test(value)
    ? value.charAt(0).toUpperCase() + value.slice(1)
    : value;
}

/** Of each UTC day, where there are several. */
export function visitorsByDay(days: readonly DayVisitors[]): Html | "" {
  if (days.length < 2 || days.length > MOST_VISITOR_DAYS) return "";
  const columns: Column<DayVisitors>[] = [
    { name: "UTC day", cell: ({ day }) => day },
    { name: "Visitors", cell: (one) => visitorCount(one.visitors, one.estimated), end: true },
  ];
  const summary = html`<summary>${counted(days.length, "UTC day")} with visitors</summary>`;
  const shown = table("Distinct visitors of each UTC day", columns, days);
  return card("Visitors a day", html`<details class="as-table">${summary}${shown}</details>`);
}

export function visitorCount(visitors: number, estimated: boolean): string {
  return `${estimated ? "about " : ""}${count(visitors)}`;
}

const RECENT: readonly Column<RecentClick>[] = [
  { name: "When", cell: ({ at }) => html`<span class="nowrap">${time(at)}</span>` },
  { name: "Kind", cell: ({ type }) => KIND_NAMES[type].replace(/s$/, "") },
  { name: "Place", cell: ({ city, country }) => [...known(city), countryName(country)].join(", ") },
  { name: "Device", cell: ({ device }) => plainName(device) },
  { name: "Browser", cell: ({ browser, os }) => [...known(browser), ...known(os)].join(" on ") || "Unknown" },
  { name: "From", cell: ({ referrer }) => clipped(referrer || "Direct") },
];

/** `actions`: beside the card's title. */
export function recentCard(range: PageRange, recent: readonly RecentClick[], actions: Html | ""): Html {
  const title = range.bots ? "Recent clicks and previews" : "Recent clicks";
  const shown =
    recent.length === 0 ? html`<p class="muted">None in this time.</p>` : table(title, RECENT, recent);
  return card(title, html`<div id="recent" ${live(range)}>${shown}</div>`, { actions });
}

function known(value: string): string[] {
  return value === "unknown" ? [] : [value];
}

function clipped(text: string): Html {
  return html`<span class="clip" title="${text}">${text}</span>`;
}
