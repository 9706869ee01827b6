// GET /portal: clicks over time, top links, usage; for an account without links, the form for the first one.
import type { Api } from "../../api/fastify.ts";
import type { Tier } from "../../events/vocabulary.ts";
import {
  type AccountDashboard,
  type AccountUsage,
  accountDashboard,
} from "../../queries/analytics/account-dashboard.ts";
import { sumOf } from "../../queries/analytics/hit-counts.ts";
import type { ListedLink } from "../../queries/links/account-links.ts";
import { count, counted, linkPath, outward, shortName } from "../links/link-view.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { meter } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { csrfField, sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { firstSteps } from "./first-steps.ts";
import { RangeQuery, rangeFor, rangeName, rangePicker } from "./ranges.ts";
import { kindStats, seriesFigure } from "./series-figure.ts";

export function dashboardPage(app: Api, deps: PortalDeps): void {
  const schema = { querystring: RangeQuery };
  app.get("/", { preHandler: requireSession, schema }, async (request, reply) => {
    const session = signedIn(request);
    const range = rangeFor(session.tier, request.query.range);
    const dashboard = await accountDashboard(deps, session, range, deps.clock());
    const isNew = dashboard.usage.links + dashboard.usage.deletedLinks === 0;
    return sendPage(reply, {
      title: "Dashboard",
      nav: "Dashboard",
      styles: ["uPlot.min.css", "charts.css"],
      scripts: ["chart.js"],
      body: html`<div class="page-head"><h1>Dashboard</h1>${isNew ? "" : rangePicker("/portal", range, session.tier)}</div>
${isNew ? firstSteps(csrfField(reply), deps.newId(), session.tier) : overview(dashboard)}
${usageCard(dashboard.usage, session.tier, deps.planPrice !== undefined)}`,
    });
  });
}

function overview({ series, totals, top }: AccountDashboard): Html {
  const shown = rangeName(series.range);
  return html`${kindStats(sumOf(series.points), `Hits in the last ${shown}`)}
<section class="card"><div class="card-head"><h2>Clicks, last ${shown}</h2><p class="muted small">${counted(totals.total, "hit")} since you joined</p></div>
${seriesFigure(series, `Hits of all your links in the last ${shown}`)}</section>
<section class="card"><div class="card-head"><h2>Top links</h2><a href="/portal/links?sort=clicks">All by clicks</a></div>
${top.length === 0 ? noClicks : topTable(top)}</section>`;
}

const noClicks = html`<p class="muted">Nobody has followed one of your links yet. Open one yourself, or share it: it appears here within a second or two. <a href="/portal/links">Go to your links</a></p>`;

function topTable(top: readonly ListedLink[]): Html {
  return html`<table class="table table-links"><thead><tr><th scope="col">Short link</th><th scope="col">Leads to</th><th scope="col" class="end">Hits</th></tr></thead>
<tbody>${top.map(
    (link) => html`<tr><td><a class="clip" href="${linkPath(link, "/analytics")}">${shortName(link)}</a></td>
<td data-label="Leads to">${outward(link.longUrl)}</td><td class="end number" data-label="Hits">${count(link.clicks)}</td></tr>`,
  )}</tbody></table>`;
}

function usageCard(usage: AccountUsage, tier: Tier, sellsPlans: boolean): Html {
  const { links, keys, webhooks, domains, requestsPerHour } = usage;
  const isDeveloper = tier === "developer";
  const plan = html`<a class="badge badge-accent" href="/portal/plan">${isDeveloper ? "Developer" : "Free"}</a>`;
  return html`<section class="card"><div class="card-head"><h2>In use</h2>${(sellsPlans || !isDeveloper) && plan}</div>
<div class="grid grid-small">
${meter("Active API keys", keys.used, keys.limit)}
${isDeveloper ? meter("Webhooks", webhooks.used, webhooks.limit) : ""}
</div>
<dl class="facts"><dt>Links</dt><dd>${count(links)}, no limit</dd>
<dt>API requests</dt><dd>${count(requestsPerHour)} an hour for each key</dd>
<dt>Custom domains</dt><dd>${isDeveloper ? count(domains) : html`With the <a href="/portal/plan">Developer plan</a>`}</dd></dl></section>`;
}
