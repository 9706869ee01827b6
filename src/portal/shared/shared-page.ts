// GET /shared/{token}: a page of an account's numbers for whoever has its address. What it shows is fixed by its owner: the
// filters of the address narrow it, and nothing widens it.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { isRefused } from "../../commands/refusals.ts";
import { findSharedPage } from "../../commands/sharing/shared-pages.ts";
import { OPTION_LIMITS } from "../../events/link-options.ts";
import { byAddress, countTry } from "../../limits/rate-limit.ts";
import { acceptFilters } from "../../queries/analytics/filter-values.ts";
import type { Filters, GroupBy } from "../../queries/analytics/question.ts";
import { passCookie } from "../../redirect/password/link-pass.ts";
import { filterChips } from "../analytics/analytics-bar.ts";
import { askView, onlyLink } from "../analytics/ask-view.ts";
import { breakdownCards, groupsOf, MOST_ROWS } from "../analytics/breakdowns.ts";
import { chartCard } from "../analytics/series-chart.ts";
import { RangeQuery } from "../analytics/shown-range.ts";
import { AnalyticsQuery, type AnalyticsView, ownFilters, viewOf } from "../analytics/view-address.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { field } from "../shell/controls.ts";
import { html } from "../shell/html.ts";
import { emptyCard, pageHead } from "../shell/layout.ts";
import { sendPage } from "../shell/page.ts";
import { viewInWords } from "./view-in-words.ts";

type PageOfAccount = NonNullable<Awaited<ReturnType<typeof findSharedPage>>>;

const PATH = "/shared/:token";
/** Of a client's address; a reader needs some for each look, and a token of 256 bits is never guessed. */
const PAGES_PER_HOUR = 600;
const Params = z.object({ token: z.string().max(100) });
const PasswordForm = z.object({
  password: z
    .string()
    .max(4 * OPTION_LIMITS.password)
    .catch(""),
});

export function sharedPage(site: Api, deps: PortalDeps): void {
  const config = { isForStrangers: true };
  const isSecure = deps.baseUrl.startsWith("https:");
  const find = async ({ ip, params }: FastifyRequest) => {
    await countTry(deps, byAddress("shared-page", ip), PAGES_PER_HOUR);
    return await findSharedPage({ ...deps, ...deps.links }, (params as z.output<typeof Params>).token);
  };

  site.get(
    PATH,
    { config, schema: { params: Params, querystring: AnalyticsQuery } },
    async (request, reply) => {
      const page = await find(request);
      if (!page) return sendGone(reply);
      const lock = lockOf(page);
      const isOpen =
        !lock || deps.sharedPasswords.passes.isIn(request.headers.cookie, lock, deps.clock().getTime());
      if (!isOpen) return askPassword(reply, 401);
      return await sendNumbers(deps, request, reply, page, request.query);
    },
  );

  site.post(PATH, { config, schema: { params: Params, body: PasswordForm } }, async (request, reply) => {
    const page = await find(request);
    if (!page) return sendGone(reply);
    const lock = lockOf(page);
    if (lock) {
      const { passes, check } = deps.sharedPasswords;
      try {
        if (!(await check(lock, request.ip, request.body.password)))
          return askPassword(reply, 401, "This is not the password of this page");
      } catch (error) {
        if (!isRefused(error, "rate_limit_exceeded", "too_busy")) throw error;
        if (error.retryAfter !== undefined) reply.header("retry-after", error.retryAfter);
        return askPassword(reply, error.status ?? 503, error.message);
      }
      const pass = passes.issue(lock, deps.clock().getTime());
      reply.header("set-cookie", passCookie(pass, request.url, { isSecure }));
    }
    return reply.redirect(request.url, 303);
  });
}

/** What its password opens, named as no link is. */
function lockOf({ page: { pageId, passwordId } }: PageOfAccount) {
  return passwordId === undefined ? undefined : { link: `shared page ${pageId}`, passwordId };
}

async function sendNumbers(
  deps: PortalDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { page, accountId, tier }: PageOfAccount,
  query: z.output<typeof AnalyticsQuery>,
): Promise<FastifyReply> {
  const { cards, range, from = "", to = "", timeZone } = page;
  const shared = page.filters as Filters;
  // All of it, also what it is compared with, as that is time beyond the range: nothing, where its days are chosen.
  const compare = range === "custom" ? "none" : "previous";
  const time = RangeQuery.parse({ range, from, to, timezone: timeZone, compare });
  const { filters: typed, ...shown } = viewOf({ ...query, ...time }, tier, deps.clock(), timeZone);
  // What no click can have is no filter.
  const wished = await acceptFilters(typed, async (link) => link).catch(() => ({}));
  const link = await onlyLink(deps, accountId, shared);
  const groupBy = groupsOf(link, cards);
  const asked: AnalyticsView = {
    ...shown,
    path: request.url.split("?", 1)[0] ?? "",
    offersAll: false,
    filters: narrowed(shared, wished, groupBy),
    shared,
  };
  const wanted = { groupBy, limit: MOST_ROWS };
  const { view, answer, isTooLarge } = await askView(deps, accountId, asked, wanted, request.signal);
  const isEmpty = answer === undefined || answer.totals.people + answer.totals.preview === 0;
  const own = { ...view, filters: ownFilters(view.filters, shared) };
  const nothing = isTooLarge
    ? emptyCard(
        "alert",
        "These are too many clicks to be counted",
        "Take a filter away, or ask whoever sent you this page for a shorter time.",
      )
    : emptyCard("chart", "Nobody has been here in this time", "What comes is here as soon as it is counted.");
  reply.header("referrer-policy", "no-referrer");
  return sendPage(reply, {
    title: page.name,
    scripts: ["chart.js"],
    body: html`${pageHead(page.name, { lead: viewInWords(view.range, shared, link) })}
${filterChips(own, link)}
${answer && chartCard(view, answer)}
${isEmpty ? nothing : breakdownCards(view, answer, link, request.visit.assets.url("world.svg"))}`,
  });
}

/**
 * The page's own filters, with one of their values where the visitor chose it, and one of the visitor's own of each field that
 * the page shows: each only takes clicks away. No more of them, as each of a thousand links of the page has all in its address.
 */
export function narrowed(fixed: Filters, wished: Filters, shown: readonly GroupBy[]): Filters {
  const filters: { [G in GroupBy]?: readonly string[] } = { ...fixed };
  for (const field of shown) {
    const first = wished[field]?.find((value) => fixed[field]?.includes(value) ?? true);
    if (first !== undefined) filters[field] = [first];
  }
  return filters;
}

/** One answer for a page that was ended, is over, or never was. */
function sendGone(reply: FastifyReply): FastifyReply {
  return sendPage(reply, {
    title: "This page is over",
    shape: "narrow",
    status: 404,
    body: html`<div class="card empty"><h1>There is nothing here any more</h1>
<p>Whoever shared this page has ended it, or its address is not quite right. Ask them for a new one.</p></div>`,
  });
}

function askPassword(reply: FastifyReply, status: number, error?: string): FastifyReply {
  if (status === 401) reply.header("www-authenticate", 'Cookie realm="This page"');
  // Not no-referrer as of the numbers: without a referrer the form would have no Origin that says it is of this site.
  return sendPage(reply, {
    title: "This page needs a password",
    shape: "narrow",
    status,
    body: html`<div class="card"><h1>This page needs a password</h1>
<form class="form" method="post">${field({
      label: "Password",
      name: "password",
      type: "password",
      required: true,
      autofocus: true,
      isExact: true,
      maxlength: OPTION_LIMITS.password,
      error,
    })}<div><button class="button button-primary">Continue</button></div></form></div>`,
  });
}
