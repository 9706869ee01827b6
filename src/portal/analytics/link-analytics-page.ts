// GET /portal/links/<host>/<slug>/analytics: one link's totals, time series and breakdowns; live.js updates them.
import type { Api } from "../../api/fastify.ts";
import { TIER_LIMITS, type Tier } from "../../events/vocabulary.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { type LinkReport, linkReport } from "../../queries/analytics/link-report.ts";
import { linkHistory } from "../../queries/links/link-history.ts";
import { linkHead } from "../links/link-head.ts";
import { LinkParams } from "../links/link-pages.ts";
import { linkPath, shortName } from "../links/link-view.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { breakdownCards } from "./breakdowns.ts";
import { RangeQuery, rangeFor, rangeName, rangePicker } from "./ranges.ts";
import { recentCard } from "./recent-card.ts";
import { kindStats, seriesFigure } from "./series-figure.ts";

export function linkAnalyticsPage(app: Api, deps: PortalDeps): void {
  const schema = { params: LinkParams, querystring: RangeQuery };
  app.get("/links/:host/:slug/analytics", { preHandler: requireSession, schema }, async (request, reply) => {
    const { accountId, tier } = signedIn(request);
    const { link, position } = await linkHistory(deps, accountId, request.params.host, request.params.slug);
    const range = rangeFor(tier, request.query.range);
    const report = await linkReport(deps, link._id, range, deps.clock());
    const after = [report.position, position].sort().at(-1) ?? "";
    return sendPage(reply, {
      title: `Analytics of ${link.slug}`,
      nav: "Links",
      styles: ["uPlot.min.css", "charts.css"],
      scripts: TIER_LIMITS[tier].developerFeatures ? ["chart.js", "live.js"] : ["chart.js"],
      body: html`${linkHead(link, "Analytics")}
<div class="actions choices-row">${rangePicker(linkPath(link, "/analytics"), range, tier)}${liveSign(link, tier, after)}</div>
${report.totals.total === 0 ? firstClick(link) : figures(report, exportLinks(link, tier))}`,
    });
  });
}

function figures(report: LinkReport, exports: Html | ""): Html {
  const shown = rangeName(report.series.range);
  return html`${kindStats(report.totals, "Hits since the link was made")}
<section class="card"><h2>Last ${shown}</h2>
${seriesFigure(report.series, `Hits of this link in the last ${shown}`)}</section>
<h2>Since the link was made</h2>
${breakdownCards(report)}
${recentCard(report.recent, exports)}
<p class="muted small">Places are found by <a href="https://db-ip.com">IP Geolocation by DB-IP</a>; addresses are shortened before they are kept.</p>`;
}

function liveSign(link: LinkDocument, tier: Tier, after: string): Html {
  if (!TIER_LIMITS[tier].developerFeatures)
    return html`<span class="muted small">Live updates and longer times come with the <a href="/portal/plan">Developer plan</a>.</span>`;
  return html`<a href="${linkPath(link, "/analytics/range")}">Any range of time</a><span class="badge" id="live" data-live="${linkPath(link, "/live")}?after=${encodeURIComponent(after)}" hidden><i class="live-dot"></i><span role="status">Connecting</span></span>`;
}

function exportLinks(link: LinkDocument, tier: Tier): Html | "" {
  if (!TIER_LIMITS[tier].developerFeatures) return "";
  const download = (format: string) =>
    html`<a class="button button-small" href="${linkPath(link, `/clicks.${format}`)}" download>${icon("download")}${format.toUpperCase()}</a>`;
  return html`<div class="actions"><span class="muted small">All clicks as</span>${download("csv")}${download("ndjson")}</div>`;
}

function firstClick(link: LinkDocument): Html {
  return html`<section class="card empty" id="first-click">${icon("chart")}<h2>Nobody has been here yet</h2>
<p>Open <a href="${link.shortUrl}" target="_blank" rel="noopener">${shortName(link)}</a> yourself, or share it: the first click is here within a second or two.</p></section>`;
}
