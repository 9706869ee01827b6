// GET /portal: clicks over time, top links, usage; for an account without links, the form for the first one.
import type { Api } from "../../api/fastify.ts";
import type { Tier } from "../../events/vocabulary.ts";
import { type AccountUsage, accountUsage } from "../../queries/accounts.ts";
import type { AccountAnalytics, ClickedLink } from "../../queries/analytics/account-analytics.ts";
import type { AskAnalytics } from "../../queries/analytics/analytics.ts";
import { count, linkPath, outward, shortName } from "../links/link-view.ts";
import { createLinkForm } from "../links/new-link-page.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { meter } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import { type Column, card, facts, pageHead, postButton, table } from "../shell/parts.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import {
  answerTo,
  botsNote,
  type PageRange,
  pageRange,
  RangeQuery,
  rangeAddress,
  rangeBar,
} from "./range-bar.ts";
import { clickStats, seriesCard } from "./series-figure.ts";

export function dashboardPage(app: Api, deps: PortalDeps & { analytics: AskAnalytics }): void {
  const schema = { querystring: RangeQuery };
  app.get("/", { preHandler: requireSession, schema }, async (request, reply) => {
    const { accountId, tier } = signedIn(request);
    const usage = await accountUsage(deps, { accountId, tier });
    const isNew = usage.links + usage.deletedLinks === 0;
    const now = deps.clock();
    const { range, found } = await answerTo(pageRange(request.query, tier, now), (wanted) =>
      deps.analytics.ofAccount(accountId, wanted, now),
    );
    return sendPage(reply, {
      title: "Dashboard",
      nav: "Dashboard",
      styles: ["charts.css"],
      scripts: ["chart.js"],
      status: found ? 200 : 400,
      body: html`${pageHead("Dashboard")}
${isNew ? firstSteps(deps.newId(), tier) : rangeBar("/portal", range, tier)}
${!isNew && found && overview(range, found)}
${usageCard(usage, tier, deps.planPrice !== undefined)}`,
    });
  });
}

function overview(range: PageRange, found: AccountAnalytics): Html {
  const { totals, leftOut, top } = found;
  const all = html`<a href="/portal/links?sort=clicks">All by clicks</a>`;
  const missing =
    top.leavesOut &&
    html`<p class="muted small">So many links were clicked that days on which one had few clicks may be missing from its number here.</p>`;
  const shown = top.links.length === 0 ? noClicks : topTable(top.links, range);
  return html`${clickStats(range, totals)}
${botsNote("/portal", range, leftOut)}
${seriesCard(range, found, ", of all your links")}
${card(`Top links, ${range.name}`, html`${shown}${missing}`, { actions: all })}`;
}

const noClicks = html`<p class="muted">Nobody has followed one of your links in this time. Open one yourself, or share it: it appears here within a second or two. <a href="/portal/links">Go to your links</a></p>`;

function topTable(top: readonly ClickedLink[], range: PageRange): Html {
  const analytics = (link: ClickedLink) => rangeAddress(linkPath(link, "/analytics"), range);
  const columns: Column<ClickedLink>[] = [
    {
      name: "Short link",
      cell: (link) => html`<a class="clip" href="${analytics(link)}">${shortName(link)}</a>`,
    },
    { name: "Destination", cell: ({ longUrl }) => outward(longUrl) },
    {
      name: range.bots ? "Clicks and previews" : "Clicks",
      cell: ({ clicks }) => count(clicks),
      end: true,
    },
  ];
  return table("Top links, most clicked first", columns, top, "links");
}

/** What an account without links sees first. */
function firstSteps(once: string, tier: Tier): Html {
  const key = postButton("/portal/keys", html`${icon("key")}Make an API key`, {
    fields: { label: "First key" },
  });
  return html`<section class="card empty">${icon("link")}<h2>Make your first short link</h2>
<p>Paste a long address. You get a short one and a QR code at once, and every click shows up here.</p>
${createLinkForm(once)}</section>
<section class="card"><h2>What comes next</h2><ul class="next-steps">
<li><p><strong>Make links from a program.</strong> You get an API key, and a command to copy that makes a link with it.</p>${key}</li>
${
  tier === "developer" &&
  html`<li><p><strong>Use a domain of your own</strong>, and choose what stands after the slash.</p>
<a class="button" href="/portal/domains">${icon("globe")}Add a domain</a></li>
<li><p><strong>Be told of each click</strong> by a webhook, a moment after it happened.</p>
<a class="button" href="/portal/webhooks">${icon("send")}Add a webhook</a></li>`
}</ul></section>`;
}

function usageCard(usage: AccountUsage, tier: Tier, sellsPlans: boolean): Html {
  const { links, keys, webhooks, domains, requestsPerHour } = usage;
  const isDeveloper = tier === "developer";
  const plan = html`<a class="badge badge-accent" href="/portal/plan">${isDeveloper ? "Developer" : "Free"}</a>`;
  const meters = html`<div class="grid grid-small">
${meter("Active API keys", keys.used, keys.limit)}
${isDeveloper && meter("Webhooks", webhooks.used, webhooks.limit)}
</div>
${facts({
  Links: `${count(links)}, no limit`,
  "API requests": `${count(requestsPerHour)} an hour for each key`,
  "Custom domains": isDeveloper ? count(domains) : html`With the <a href="/portal/plan">Developer plan</a>`,
})}`;
  return card("In use", meters, { actions: (sellsPlans || !isDeveloper) && plan });
}
