// GET /portal/links/<host>/<slug>/analytics: one link's numbers in a range of time, also as they stood; live.js updates
// those of a range that goes on.
import type { Api } from "../../api/fastify.ts";
import { TIER_LIMITS, type Tier } from "../../events/vocabulary.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { type RangeAnalytics, rangeAnalytics } from "../../queries/analytics/ranges/range-analytics.ts";
import type { DayVisitors } from "../../queries/analytics/ranges/range-sum.ts";
import { linkHistory } from "../../queries/links/link-history.ts";
import { isRefused } from "../../runtime/refused.ts";
import { countForAccount } from "../auth/throttle.ts";
import { linkHead } from "../links/link-head.ts";
import { LinkParams } from "../links/link-pages.ts";
import { count, counted, linkPath, shortName } from "../links/link-view.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { breakdownCards } from "./breakdowns.ts";
import {
  botsNote,
  type PageRange,
  pageRange,
  RangeQuery,
  rangeBar,
  withError,
  withTooLong,
} from "./range-bar.ts";
import { recentCard } from "./recent-card.ts";
import { clickStats, clicksTitle, KINDS_EXPLAINED, seriesFigure } from "./series-figure.ts";

/** Clicks are counted within two seconds, unless there are more than can be folded. */
const LATE_MS = 5_000;
const MOST_VISITOR_DAYS = 400;

export function linkAnalyticsPage(app: Api, deps: PortalDeps): void {
  const ofRange = rangeAnalytics({ ...deps, logParts: deps.logReader });
  const schema = { params: LinkParams, querystring: RangeQuery };
  app.get("/links/:host/:slug/analytics", { preHandler: requireSession, schema }, async (request, reply) => {
    const { accountId, tier } = signedIn(request);
    const { link, position } = await linkHistory(deps, accountId, request.params.host, request.params.slug);
    const now = deps.clock();
    // Not the views of the page, which documents answer, or parts of the log that are kept.
    const countLogRead = () =>
      countForAccount(deps, accountId, "log-reads", TIER_LIMITS[tier].requestsPerHour);
    const { range, found } = await answerTo(pageRange(request.query, tier, now), (wanted) =>
      ofRange(link, wanted, now, countLogRead),
    );
    const path = linkPath(link, "/analytics");
    const isLive = found !== undefined && range.includesNow && TIER_LIMITS[tier].developerFeatures;
    const after = found && found.position > position ? found.position : position;
    return sendPage(reply, {
      title: `Analytics of ${link.slug}`,
      nav: "Links",
      styles: ["uPlot.min.css", "charts.css"],
      scripts: isLive ? ["chart.js", "live.js"] : ["chart.js"],
      status: found ? 200 : 400,
      body: html`${linkHead(link, "Analytics")}
${rangeBar(path, range, tier, { asOf: true, end: isLive ? liveSign(link, range, after) : undefined })}
${found?.everHit === false ? firstClick(link) : ""}${found?.everHit ? figures(path, range, found, exportLinks(link, tier)) : ""}`,
    });
  });
}

/** A range that can't be answered is said beside the field that must change. */
async function answerTo(
  range: PageRange,
  ask: (request: NonNullable<PageRange["request"]>) => Promise<RangeAnalytics>,
): Promise<{ range: PageRange; found?: RangeAnalytics }> {
  const { request } = range;
  if (!request) return { range };
  try {
    return { range, found: await ask(request) };
  } catch (error) {
    if (isRefused(error, "not_found"))
      return { range: withError(range, "as_of", "The link did not exist then.") };
    if (isRefused(error, "invalid_position")) return { range: withError(range, "as_of", error.message) };
    if (!isRefused(error, "invalid_range")) throw error;
    const isBeforeLink = request.from === undefined && !range.includesNow;
    return { range: isBeforeLink ? withError(range, "to", "The link was made later.") : withTooLong(range) };
  }
}

function figures(path: string, range: PageRange, found: RangeAnalytics, exports: Html | ""): Html {
  const title = clicksTitle(range);
  return html`${clickStats(range, found.totals, visitorsStat(found.visitors))}
${botsNote(path, range, found.leftOut)}${found.behindMs > LATE_MS ? html`<p class="muted small">The latest clicks are still being counted.</p>` : ""}
<section class="card"><h2>${title}</h2>
${seriesFigure(range, found, title)}${KINDS_EXPLAINED}</section>
${visitorsByDay(found.visitors)}
${breakdownCards(found)}
${range.includesNow || found.recent.length > 0 ? recentCard(found.recent, range.bots, exports) : exports}
<p class="muted small">Places are found by <a href="https://db-ip.com">IP Geolocation by DB-IP</a>; addresses are shortened before they are kept.</p>`;
}

function visitorsStat(days: readonly DayVisitors[]): Html {
  const visitors = days.reduce((sum, day) => sum + day.visitors, 0);
  const about = days.some(({ estimated }) => estimated) ? "about " : "";
  return html`<div class="card stat" id="visitors"><span class="stat-name">Visitors${days.length > 1 ? ", counted anew each day" : ""}</span><span class="stat-value">${about}${count(visitors)}</span></div>`;
}

function visitorsByDay(days: readonly DayVisitors[]): Html | "" {
  if (days.length < 2 || days.length > MOST_VISITOR_DAYS) return "";
  return html`<section class="card"><h2>Visitors a day</h2><details class="as-table"><summary>${counted(days.length, "UTC day")} with visitors</summary>
<table class="table"><caption class="visually-hidden">Distinct visitors of each UTC day</caption>
<thead><tr><th scope="col">UTC day</th><th scope="col" class="end">Visitors</th></tr></thead>
<tbody>${days.map(
    ({ day, visitors, estimated }) =>
      html`<tr><th scope="row">${day}</th><td class="end number" data-label="Visitors">${estimated ? "about " : ""}${count(visitors)}</td></tr>`,
  )}</tbody></table></details></section>`;
}

/** Hidden without scripts. */
function liveSign(link: LinkDocument, range: PageRange, after: string): Html {
  const query = new URLSearchParams({ after, ...(range.bots && { bots: "1" }) });
  return html`<span class="badge" id="live" data-live="${linkPath(link, "/live")}?${query.toString()}" hidden><i class="live-dot"></i><span role="status">Connecting</span></span>`;
}

function exportLinks(link: LinkDocument, tier: Tier): Html | "" {
  if (!TIER_LIMITS[tier].developerFeatures) return "";
  const download = (format: string) =>
    html`<a class="button button-small" href="${linkPath(link, `/clicks.${format}`)}" download>${icon("download")}${format.toUpperCase()}</a>`;
  return html`<div class="actions"><span class="muted small">All clicks and previews as</span>${download("csv")}${download("ndjson")}</div>`;
}

function firstClick(link: LinkDocument): Html {
  return html`<section class="card empty" id="first-click">${icon("chart")}<h2>Nobody has been here yet</h2>
<p>Open <a href="${link.shortUrl}" target="_blank" rel="noopener">${shortName(link)}</a> yourself, or share it: the first click is here within a second or two.</p></section>`;
}
