// GET /portal/links/<host>/<slug>/analytics: one link's numbers in a range of time, also as they stood; console.js keeps
// those of a range that goes on up to date.
import type { Api } from "../../api/fastify.ts";
import { countTry } from "../../api/limits/rate-limit.ts";
import { hasDeveloperFeatures, type Tier, UTM_FIELDS } from "../../events/vocabulary.ts";
import type { Dimension } from "../../projections/definitions/click-dimensions.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import type { RecentClick } from "../../projections/definitions/recent-clicks.ts";
import { OTHER, type ValueCount } from "../../projections/definitions/tally.ts";
import type { AskAnalytics, DayVisitors, LinkAnalytics } from "../../queries/analytics/analytics.ts";
import type { RuleHits } from "../../queries/analytics/sums.ts";
import { linkHistory } from "../../queries/links/link-history.ts";
import { count, counted, LinkParams, linkHead, linkPath, shortName } from "../links/link-view.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import { type Column, card, table } from "../shell/parts.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { answerTo, botsNote, live, type PageRange, pageRange, RangeQuery, rangeBar } from "./range-bar.ts";
import { clickStats, KIND_NAMES, seriesCard } from "./series-figure.ts";

export function linkAnalyticsPage(app: Api, deps: PortalDeps & { analytics: AskAnalytics }): void {
  const schema = { params: LinkParams, querystring: RangeQuery };
  app.get("/links/:host/:slug/analytics", { preHandler: requireSession, schema }, async (request, reply) => {
    const { accountId, tier } = signedIn(request);
    const { link } = await linkHistory(deps, accountId, request.params.host, request.params.slug);
    const now = deps.clock();
    // Not the views of the page, which documents answer, or parts of the log that are kept.
    let isLogRead = false;
    const countLogRead = async () => {
      isLogRead = true;
      await countTry(deps, `log-reads ${accountId}`, deps.limits[tier].requestsPerHour);
    };
    const { range, found } = await answerTo(pageRange(request.query, tier, now), (wanted) =>
      deps.analytics.ofLink(link, wanted, now, countLogRead),
    );
    const path = linkPath(link, "/analytics");
    const isLive = found !== undefined && range.includesNow && hasDeveloperFeatures(tier);
    return sendPage(reply, {
      title: `Analytics of ${link.slug}`,
      nav: "Links",
      styles: ["charts.css"],
      scripts: isLive ? ["chart.js", "console.js"] : ["chart.js"],
      status: found ? 200 : 400,
      body: html`${linkHead(link, "Analytics")}
${rangeBar(path, range, tier, { asOf: true, end: isLive && liveSign })}
${found?.everHit === false && firstClick(link, range)}${found?.everHit && figures(path, { ...range, isLogRead }, found, exportLinks(link, tier))}`,
    });
  });
}

function figures(path: string, range: PageRange, found: LinkAnalytics, exports: Html | ""): Html {
  const { recent, visitors } = found;
  return html`${clickStats(range, found.totals, visitorsStat(visitors))}
${botsNote(path, range, found.leftOut)}
${seriesCard(range, found)}
${visitorsByDay(visitors)}
${breakdownCards(range, found)}
${range.includesNow || recent.length > 0 ? recentCard(range, recent, exports) : exports}
<p class="muted small">Places are found by <a href="https://db-ip.com">IP Geolocation by DB-IP</a>; addresses are shortened before they are kept.</p>`;
}

function visitorsStat(days: readonly DayVisitors[]): Html {
  const visitors = days.reduce((sum, day) => sum + day.visitors, 0);
  const isEstimated = days.some(({ estimated }) => estimated);
  return html`<div class="card stat" id="visitors"><span class="stat-name">Visitors${days.length > 1 && ", counted anew each day"}</span><span class="stat-value">${visitorCount(visitors, isEstimated)}</span></div>`;
}

/** Hidden without scripts. */
const liveSign = html`<span class="badge" id="live" hidden><i class="live-dot"></i><span role="status">Live</span></span>`;

function exportLinks(link: LinkDocument, tier: Tier): Html | "" {
  if (!hasDeveloperFeatures(tier)) return "";
  const download = (format: string) =>
    html`<a class="button button-small" href="${linkPath(link, `/clicks.${format}`)}" download>${icon("download")}${format.toUpperCase()}</a>`;
  return html`<div class="actions"><span class="muted small">All clicks and previews as</span>${download("csv")}${download("ndjson")}</div>`;
}

function firstClick(link: LinkDocument, range: PageRange): Html {
  return html`<section class="card empty" id="first-click" ${live(range)}>${icon("chart")}<h2>Nobody has been here yet</h2>
<p>Open <a href="${link.shortUrl}" target="_blank" rel="noopener">${shortName(link)}</a> yourself, or share it: the first click is here within a few seconds.</p></section>`;
}

const SHOWN = 8;
const MOST_LISTED = 100;
const MOST_VISITOR_DAYS = 400;

const DIMENSIONS: Readonly<Record<Dimension, { title: string; nameOf: (value: string) => string }>> = {
  countries: { title: "Countries", nameOf: countryName },
  cities: { title: "Cities", nameOf: cityName },
  referrers: {
    title: "Referrers",
    nameOf: (value) => (value === "direct" ? "Direct, or not said" : plainName(value)),
  },
  devices: { title: "Devices", nameOf: plainName },
  browsers: { title: "Browsers", nameOf: plainName },
  os: { title: "Operating systems", nameOf: plainName },
};

const regions = new Intl.DisplayNames("en", { type: "region", fallback: "none" });

/** Ranked bars, whose SVG widths need neither scripts nor inline styles. */
function breakdownCards(
  range: PageRange,
  { link, breakdowns, utm, rules, totals: { total } }: LinkAnalytics,
): Html {
  const cards = (Object.keys(DIMENSIONS) as Dimension[]).map((name) =>
    breakdownCard(DIMENSIONS[name].title, breakdowns[name], total, DIMENSIONS[name].nameOf),
  );
  const given = UTM_FIELDS.filter((name) => utm[name].length > 0);
  const utmCards = given.map((name) => breakdownCard(`UTM ${name}`, utm[name], total, String));
  const ruleCard = rules.length > 0 && rulesCard(link, rules, total);
  return html`<div class="grid" id="breakdowns" ${live(range)}>${cards}${utmCards}${ruleCard}</div>`;
}

/** Each rule with where it led, as it may have led elsewhere before. */
function rulesCard(link: LinkDocument, rules: readonly RuleHits[], total: number): Html {
  const ruled = rules.map(({ id, hits, destinations }) => {
    const led = destinations.map(([destination, count]) => bar(destination, count, total));
    return html`${bar(ruleName(link, id), hits, total)}<li><ul class="bars">${led}</ul></li>`;
  });
  const others = total - rules.reduce((sum, { hits }) => sum + hits, 0);
  const before = others > 0 && bar("While there were none", others, total);
  return card("Rules", html`<ul class="bars">${ruled}${before}</ul>`);
}

function ruleName({ rules = [] }: LinkDocument, id: string | null): string {
  if (id === null) return "None of them";
  if (id === OTHER) return plainName(id);
  const index = rules.findIndex((rule) => rule.id === id);
  return index === -1 ? `Removed rule ${id}` : (rules[index]?.name ?? `Rule ${index + 1}`);
}

function breakdownCard(
  title: string,
  values: readonly ValueCount[],
  total: number,
  nameOf: (value: string) => string,
): Html {
  if (values.length === 0) return card(title, html`<p class="muted">None in this time.</p>`);
  const bars = (part: readonly ValueCount[]) =>
    html`<ul class="bars">${part.map(([value, hits]) => bar(nameOf(value), hits, total))}</ul>`;
  const more = values.slice(SHOWN, MOST_LISTED);
  const rest = html`<details class="more"><summary>${count(more.length)} more</summary>${bars(more)}</details>`;
  return card(title, html`${bars(values.slice(0, SHOWN))}${more.length > 0 && rest}`);
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
function visitorsByDay(days: readonly DayVisitors[]): Html | "" {
  if (days.length < 2 || days.length > MOST_VISITOR_DAYS) return "";
  const columns: Column<DayVisitors>[] = [
    { name: "UTC day", cell: ({ day }) => day },
    { name: "Visitors", cell: (one) => visitorCount(one.visitors, one.estimated), end: true },
  ];
  const summary = html`<summary>${counted(days.length, "UTC day")} with visitors</summary>`;
  const shown = table("Distinct visitors of each UTC day", columns, days);
  return card("Visitors a day", html`<details class="as-table">${summary}${shown}</details>`);
}

function visitorCount(visitors: number, estimated: boolean): string {
  return `${estimated ? "about " : ""}${count(visitors)}`;
}

const RECENT: readonly Column<RecentClick>[] = [
  { name: "When", cell: ({ at }) => html`<span class="nowrap">${time(at)}</span>` },
  { name: "Kind", cell: ({ type }) => KIND_NAMES[type].replace(/s$/, "") },
  { name: "Place", cell: ({ city, country }) => [...known(city), countryName(country)].join(", ") },
  { name: "Device", cell: ({ device }) => plainName(device) },
  { name: "Browser", cell: ({ browser, os }) => [...known(browser), ...known(os)].join(" on ") || "Unknown" },
  {
    name: "From",
    cell: ({ referrer }) =>
      html`<span class="clip" title="${referrer || "Direct"}">${referrer || "Direct"}</span>`,
  },
];

/** `actions`: beside the card's title. */
function recentCard(range: PageRange, recent: readonly RecentClick[], actions: Html | ""): Html {
  const title = range.bots ? "Recent clicks and previews" : "Recent clicks";
  const shown =
    recent.length === 0 ? html`<p class="muted">None in this time.</p>` : table(title, RECENT, recent);
  return card(title, html`<div id="recent" ${live(range)}>${shown}</div>`, { actions });
}

function known(value: string): string[] {
  return value === "unknown" ? [] : [value];
}
