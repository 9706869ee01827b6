// GET /portal: the last days in a chart, the most clicked links, usage; for an account without links, the form for the first one.
import type { Api } from "../../api/fastify.ts";
import { savedFiltersOf } from "../../commands/links/saved-filters.ts";
import type { Tier } from "../../events/vocabulary.ts";
import { type AccountUsage, accountUsage } from "../../queries/accounts.ts";
import type { AccountAnswer } from "../../queries/analytics/question.ts";
import { type RestingWebhook, restingReceivers } from "../../webhooks/owner-tools/resting-receiver.ts";
import { savedFiltersCard } from "../link-list/saved-filters.ts";
import { count } from "../links/link-view.ts";
import { createLinkForm } from "../links/new-link-page.ts";
import { newsBox } from "../members/news.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { around, type Html, html, offered } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { card, emptyCard, facts, meter, pageHead, postButton } from "../shell/layout.ts";
import { noticeBox, sendPage } from "../shell/page.ts";
import { signedIn } from "../shell/sessions.ts";
import { whyResting } from "../webhooks/webhook-page.ts";
import { webhookName, webhookPath } from "../webhooks/webhooks-page.ts";
import { rangeBar } from "./analytics-bar.ts";
import { liveSign } from "./analytics-page.ts";
import { askView } from "./ask-view.ts";
import { topLinks } from "./breakdowns.ts";
import { live } from "./metrics.ts";
import { chartCard } from "./series-chart.ts";
import { ANALYTICS, AnalyticsQuery, type AnalyticsView, requestedView, viewAddress } from "./view-address.ts";

const TOP_LINKS = 10;

export function dashboardPage(app: Api, deps: PortalDeps): void {
  const schema = { querystring: AnalyticsQuery };
  app.get("/", { schema }, async (request, reply) => {
    const { accountId, tier } = signedIn(request);
    const usage = await accountUsage(deps, { accountId, tier });
    const isNew = usage.links + usage.deletedLinks === 0;
    const asked = requestedView(request, request.query, deps.clock());
    const ofAll = { ...asked, path: "/portal", filters: {} };
    const wanted = { groupBy: ["link"] as const, limit: TOP_LINKS };
    const resting = tier === "developer" ? await restingReceivers(deps, accountId) : [];
    const { view, answer, isTooLarge } = isNew
      ? { view: ofAll, isTooLarge: false }
      : await askView(deps, accountId, ofAll, wanted, request.signal);
    const isLive = answer !== undefined && view.range.includesNow && view.offersAll;
    return sendPage(reply, {
      title: "Dashboard",
      nav: "Dashboard",
      scripts: isLive ? ["chart.js", "live.js"] : ["chart.js"],
      body: html`${pageHead("Dashboard", { actions: !isNew && html`<a class="button" href="${viewAddress(view, { path: ANALYTICS })}">${icon("chart")}All analytics</a>` })}
${await newsBox(deps, request)}
${resting.map(restingNotice)}
${isNew && firstSteps(deps.newId(), tier)}
${!isNew && html`<div class="analytics-bar">${rangeBar(view, isLive && liveSign, answer?.interval)}</div>`}
${isTooLarge && tooLarge}${answer && overview(view, answer)}
${savedFiltersCard(await savedFiltersOf(deps.links, accountId))}
${usageCard(usage, tier, deps.planPrice !== undefined)}`,
    });
  });
}

function overview(view: AnalyticsView, answer: AccountAnswer): Html {
  const all = html`<a href="/portal/links?sort=clicks">All by clicks</a>`;
  const top = html`<div id="top" ${live(view.range)}>${topLinks(view, answer) ?? noClicks}</div>`;
  return html`${chartCard(view, answer, ", of all your links")}
${card(`Top links, ${view.range.name}`, top, { actions: all })}`;
}

const tooLarge = emptyCard(
  "alert",
  "These are too many clicks to be counted at once",
  "Choose a shorter time.",
);

const noClicks = html`<p class="muted">Nobody has followed one of your links in this time. Open one yourself, or share it: it appears here within two seconds. <a href="/portal/links">Go to your links</a></p>`;

function restingNotice({ webhook, ...rest }: RestingWebhook): Html {
  const why = whyResting(rest, `The receiver of ${webhookName(webhook)}`);
  const to = html`<a href="${webhookPath(webhook._id)}">Its deliveries</a>`;
  return noticeBox({ kind: "failed", text: html`${why} ${to}` });
}

/** What an account without links sees first. */
function firstSteps(once: string, tier: Tier): Html {
  const key = postButton("/portal/keys", html`${icon("key")}Make an API key`, {
    fields: { label: "First key" },
  });
  const form = createLinkForm(once);
  const steps = html`<section class="card empty">${icon("link")}<h2>Make your first short link</h2>
<p>Paste a long address. You get a short one and a QR code at once, and every click shows up here.</p>
${form}</section>
<section class="card"><h2>What comes next</h2><ul class="next-steps">
<li><p><strong>Make links from a program.</strong> You get an API key, and a command to copy that makes a link with it.</p>${key}</li>
${
  tier === "developer" &&
  offered(
    "/portal/domains",
    html`<li><p><strong>Use a domain of your own</strong>, and choose what stands after the slash.</p>
<a class="button" href="/portal/domains">${icon("globe")}Add a domain</a></li>
<li><p><strong>Be told of each click</strong> by a webhook, a moment after it happened.</p>
<a class="button" href="/portal/webhooks">${icon("send")}Add a webhook</a></li>`,
  )
}</ul></section>`;
  return around(form, steps);
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
