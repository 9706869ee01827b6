// GET /portal/analytics: the numbers of an account, or of those of its clicks that the filters in the address let through,
// such as of a link, a tag or a domain; live.js keeps those of a range that goes on up to date.
import type { Api } from "../../api/fastify.ts";
import { isRefused } from "../../commands/refusals.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import type { AccountAnswer, Filters } from "../../queries/analytics/question.ts";
import { statusOf } from "../../queries/links/link-statuses.ts";
import { linkHead, shortName } from "../links/link-view.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { emptyCard, pageHead } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import { signedIn } from "../shell/sessions.ts";
import { filterChips, rangeBar } from "./analytics-bar.ts";
import { acceptedFilters, askView, onlyLink } from "./ask-view.ts";
import { breakdownCards, groupsOf, MOST_ROWS } from "./breakdowns.ts";
import { latestCard, latestClicksOf } from "./latest-clicks.ts";
import { live } from "./metrics.ts";
import { chartCard } from "./series-chart.ts";
import { AnalyticsQuery, type AnalyticsView, requestedView, viewAddress, WHY } from "./view-address.ts";

export function analyticsPage(app: Api, deps: PortalDeps): void {
  const schema = { querystring: AnalyticsQuery };
  app.get("/analytics", { schema }, async (request, reply) => {
    const { accountId } = signedIn(request);
    const typed = requestedView(request, request.query, deps.clock());
    const { filters, problem } = await filtersOf(deps, accountId, typed);
    const asked = { ...typed, filters };
    const link = problem === undefined ? await onlyLink(deps, accountId, filters) : undefined;
    const wanted = { groupBy: groupsOf(link), limit: MOST_ROWS };
    const { view, answer, isTooLarge } =
      problem === undefined
        ? await askView(deps, accountId, asked, wanted, request.signal)
        : { view: asked, isTooLarge: false };
    const isLive = answer !== undefined && view.range.includesNow && view.offersAll;
    const isEmpty = answer === undefined || hitsIn(answer) === 0;
    const isOfLink = link !== undefined && Object.keys(view.filters).length === 1;
    const latest = !isEmpty && (await latestClicksOf(deps, accountId, view, answer.totals, request.signal));
    return sendPage(reply, {
      title: link ? `Analytics of ${link.slug}` : "Analytics",
      nav: "Analytics",
      scripts: isLive ? ["chart.js", "live.js"] : ["chart.js"],
      status: answer ? 200 : 400,
      notice: problem === undefined ? undefined : { kind: "failed", text: problem },
      body: html`${link ? linkHead(link, await statusOf(deps, link), "Analytics") : pageHead("Analytics")}
<div class="analytics-bar">${rangeBar(view, html`${isLive && liveSign}${view.offersAll && shareLink(view)}`, answer?.interval)}${filterChips(view, link)}</div>
${isTooLarge && tooLarge}${answer && numbers(view, answer, link, request.visit.assets.url("world.svg"))}
${latest && latestCard(latest, view, isOfLink)}
${answer && view.offersAll && whyLink(view)}${answer && places}`,
    });
  });
}

/** As they are typed, with a problem, where no click can have one of them. @throws not_found also for another account's link */
async function filtersOf(
  deps: PortalDeps,
  accountId: string,
  { filters, range }: AnalyticsView,
): Promise<{ filters: Filters; problem?: string | undefined }> {
  try {
    const problem = range.choice === "custom" ? undefined : range.errors.timezone;
    return { filters: await acceptedFilters(deps, accountId, filters), problem };
  } catch (error) {
    if (isRefused(error, "invalid_request", "invalid_link")) return { filters, problem: error.message };
    throw error;
  }
}

function numbers(
  view: AnalyticsView,
  answer: AccountAnswer,
  link: LinkDocument | undefined,
  world: string,
): Html {
  return html`${chartCard(view, answer, link ? `, of ${shortName(link)}` : "")}
${hitsIn(answer) === 0 ? nobody(view, link) : breakdownCards(view, answer, link, world)}`;
}

function hitsIn({ totals }: AccountAnswer): number {
  return totals.people + totals.preview;
}

function nobody(view: AnalyticsView, link: LinkDocument | undefined): Html {
  const isFiltered = Object.keys(view.filters).length > (link ? 1 : 0);
  const own = link && html`<a href="${link.shortUrl}" target="_blank" rel="noopener">${shortName(link)}</a>`;
  const words = isFiltered
    ? html`No click fits all filters in this time: take one away, or choose a longer time.`
    : html`Open ${own ?? html`<a href="/portal/links">one of your links</a>`} yourself, or share it: the click is here within a few seconds.`;
  return html`<section class="card empty" id="nobody" ${live(view.range)}>${icon("chart")}<h2>Nobody has been here in this time</h2><p>${words}</p></section>`;
}

/** Pages and mails of this view. */
function shareLink(view: AnalyticsView): Html {
  return html`<a class="button button-small" href="${viewAddress(view, { path: "/portal/shared" })}">${icon("send")}Share</a>`;
}

function whyLink(view: AnalyticsView): Html {
  return html`<p class="small"><a href="${viewAddress(view, { path: WHY, show: "people", open: [] })}">Why did these numbers change?</a></p>`;
}

const tooLarge = emptyCard(
  "alert",
  "These are too many clicks to be counted one by one",
  "Choose a shorter or later time, or take a filter away: the numbers of all your links, and of one of them, are counted already.",
);

/** Hidden without scripts. */
export const liveSign = html`<span class="badge" id="live" hidden><svg class="dot" viewBox="0 0 2 2" fill="currentColor" aria-hidden="true"><circle cx="1" cy="1" r="1"/></svg><span role="status">Live</span></span>`;

const places = html`<p class="muted small">Places are found by <a href="https://db-ip.com">IP Geolocation by DB-IP</a>; addresses are shortened before they are kept.</p>`;
