// GET /portal: clicks over time, top links, usage; for an account without links, the form for the first one.
import type { Api } from "../../api/fastify.ts";
import type { Tier } from "../../events/vocabulary.ts";
import {
  type AccountDashboard,
  type AccountUsage,
  accountDashboard,
  accountUsage,
} from "../../queries/analytics/account-dashboard.ts";
import type { ClickedLink } from "../../queries/analytics/top-links-in-range.ts";
import { isRefused } from "../../runtime/refused.ts";
import { count, linkPath, outward, shortName } from "../links/link-view.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { meter } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { sendPage } from "../shell/page.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { firstSteps } from "./first-steps.ts";
import {
  botsNote,
  type PageRange,
  pageRange,
  RangeQuery,
  rangeAddress,
  rangeBar,
  withTooLong,
} from "./range-bar.ts";
import { clickStats, clicksTitle, KINDS_EXPLAINED, seriesFigure } from "./series-figure.ts";

export function dashboardPage(app: Api, deps: PortalDeps): void {
  const schema = { querystring: RangeQuery };
  app.get("/", { preHandler: requireSession, schema }, async (request, reply) => {
    const { accountId, tier } = signedIn(request);
    const usage = await accountUsage(deps, { accountId, tier });
    const isNew = usage.links + usage.deletedLinks === 0;
    const { range, found } = await answered(deps, accountId, pageRange(request.query, tier, deps.clock()));
    return sendPage(reply, {
      title: "Dashboard",
      nav: "Dashboard",
      styles: ["uPlot.min.css", "charts.css"],
      scripts: ["chart.js"],
      status: found ? 200 : 400,
      body: html`<div class="page-head"><h1>Dashboard</h1></div>
${isNew ? firstSteps(deps.newId(), tier) : rangeBar("/portal", range, tier)}
${!isNew && found && overview(range, found)}
${usageCard(usage, tier, deps.planPrice !== undefined)}`,
    });
  });
}

/** Without an answer the range has errors, which stand beside their fields. */
async function answered(
  deps: PortalDeps,
  accountId: string,
  range: PageRange,
): Promise<{ range: PageRange; found?: AccountDashboard }> {
  if (!range.request) return { range };
  try {
    return { range, found: await accountDashboard(deps, accountId, range.request, deps.clock()) };
  } catch (error) {
    if (isRefused(error, "invalid_range")) return { range: withTooLong(range) };
    throw error;
  }
}

function overview(range: PageRange, found: AccountDashboard): Html {
  const { totals, top } = found;
  const title = clicksTitle(range);
  return html`${clickStats(range, totals)}
${botsNote("/portal", range, totals.preview)}
<section class="card"><h2>${title}</h2>
${seriesFigure(range, found, `${title}, of all your links`)}${KINDS_EXPLAINED}</section>
<section class="card"><div class="card-head"><h2>Top links, ${range.name}</h2><a href="/portal/links?sort=clicks">All by clicks</a></div>
${top.links.length === 0 ? noClicks : topTable(top.links, range)}
${top.leavesOut && html`<p class="muted small">So many links were clicked that days on which one had few clicks may be missing from its number here.</p>`}</section>`;
}

const noClicks = html`<p class="muted">Nobody has followed one of your links in this time. Open one yourself, or share it: it appears here within a second or two. <a href="/portal/links">Go to your links</a></p>`;

function topTable(top: readonly ClickedLink[], range: PageRange): Html {
  const hits = range.bots ? "Clicks and previews" : "Clicks";
  return html`<table class="table table-links"><thead><tr><th scope="col">Short link</th><th scope="col">Destination</th><th scope="col" class="end">${hits}</th></tr></thead>
<tbody>${top.map(
    (
      link,
    ) => html`<tr><td><a class="clip" href="${rangeAddress(linkPath(link, "/analytics"), range)}">${shortName(link)}</a></td>
<td data-label="Destination">${outward(link.longUrl)}</td><td class="end number" data-label="${hits}">${count(link.clicks)}</td></tr>`,
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
