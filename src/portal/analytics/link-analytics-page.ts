// GET /portal/links/<host>/<slug>/analytics: one link's numbers in a range of time, also as they stood; console.js keeps
// those of a range that goes on up to date.
import type { Api } from "../../api/fastify.ts";
import { countTry } from "../../api/limits/rate-limit.ts";
import { TIER_LIMITS, type Tier } from "../../events/vocabulary.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import type { AskAnalytics, DayVisitors, LinkAnalytics } from "../../queries/analytics/analytics.ts";
import { linkHistory } from "../../queries/links/link-history.ts";
import { LinkParams, linkHead, linkPath, shortName } from "../links/link-view.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { breakdownCards, recentCard, visitorCount, visitorsByDay } from "./details.ts";
import {
  answerTo,
  botsNote,
  goesOn,
  live,
  type PageRange,
  pageRange,
  RangeQuery,
  rangeBar,
} from "./range-bar.ts";
import { clickStats, seriesCard } from "./series-figure.ts";

/** Clicks are counted within two seconds, unless there are more than can be folded. */
const LATE_MS = 5_000;

export function linkAnalyticsPage(app: Api, deps: PortalDeps & { analytics: AskAnalytics }): void {
  const schema = { params: LinkParams, querystring: RangeQuery };
  app.get("/links/:host/:slug/analytics", { preHandler: requireSession, schema }, async (request, reply) => {
    const { accountId, tier } = signedIn(request);
    const { link } = await linkHistory(deps, accountId, request.params.host, request.params.slug);
    const now = deps.clock();
    // Not the views of the page, which documents answer, or parts of the log that are kept.
    const countLogRead = () => countTry(deps, `log-reads ${accountId}`, TIER_LIMITS[tier].requestsPerHour);
    const { range, found } = await answerTo(pageRange(request.query, tier, now), (wanted) =>
      deps.analytics.ofLink(link, wanted, now, countLogRead),
    );
    const path = linkPath(link, "/analytics");
    const isLive = found !== undefined && goesOn(range) && TIER_LIMITS[tier].developerFeatures;
    return sendPage(reply, {
      title: `Analytics of ${link.slug}`,
      nav: "Links",
      styles: ["charts.css"],
      scripts: isLive ? ["chart.js", "console.js"] : ["chart.js"],
      status: found ? 200 : 400,
      body: html`${linkHead(link, "Analytics")}
${rangeBar(path, range, tier, { asOf: true, end: isLive && liveSign })}
${found?.everHit === false && firstClick(link, range)}${found?.everHit && figures(path, range, found, exportLinks(link, tier))}`,
    });
  });
}

function figures(path: string, range: PageRange, found: LinkAnalytics, exports: Html | ""): Html {
  const { recent, visitors, behindMs } = found;
  return html`${clickStats(range, found.totals, visitorsStat(visitors))}
${botsNote(path, range, found.leftOut)}${behindMs > LATE_MS && html`<p class="muted small">The latest clicks are still being counted.</p>`}
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
  if (!TIER_LIMITS[tier].developerFeatures) return "";
  const download = (format: string) =>
    html`<a class="button button-small" href="${linkPath(link, `/clicks.${format}`)}" download>${icon("download")}${format.toUpperCase()}</a>`;
  return html`<div class="actions"><span class="muted small">All clicks and previews as</span>${download("csv")}${download("ndjson")}</div>`;
}

function firstClick(link: LinkDocument, range: PageRange): Html {
  return html`<section class="card empty" id="first-click" ${live(range)}>${icon("chart")}<h2>Nobody has been here yet</h2>
<p>Open <a href="${link.shortUrl}" target="_blank" rel="noopener">${shortName(link)}</a> yourself, or share it: the first click is here within a few seconds.</p></section>`;
}
