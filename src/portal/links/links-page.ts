// GET /portal/links: the account's links with search, filters and paging; POST /portal/links/several: changes of chosen ones.
import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { Api } from "../../api/fastify.ts";
import { OPTION_LIMITS } from "../../events/link-options.ts";
import { LINK_STATUSES } from "../../events/links/link-status.ts";
import { LAST_DAYS, lastDaysUntil } from "../../projections/definitions/days/last-days.ts";
import type { DomainDocument } from "../../projections/definitions/domains.ts";
import { listDomains } from "../../queries/domains.ts";
import {
  type AccountLinksPage,
  accountLinks,
  countLinks,
  type ListedLink,
} from "../../queries/links/list-links.ts";
import { topLinks } from "../../queries/links/top-links.ts";
import { utcDate } from "../../runtime/moment.ts";
import type { PortalDeps } from "../portal-deps.ts";
import { address } from "../shell/address.ts";
import { countRead } from "../shell/change-limit.ts";
import { choice, confirmed, field, time } from "../shell/form.ts";
import { formRoute } from "../shell/form-route.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { sendPage } from "../shell/page.ts";
import { type Column, emptyCard, hiddenFields, pageHead, table } from "../shell/parts.ts";
import { requireSession, signedIn } from "../shell/sessions.ts";
import { CHANGE_NAMES, changeSeveral } from "./change-links.ts";
import {
  count,
  counted,
  LONGEST_URL,
  linkPath,
  outward,
  STATUS_WORDS,
  shortName,
  statusBadge,
  tagLink,
} from "./link-view.ts";
import { createLinkForm } from "./new-link-page.ts";
import { readableUrl } from "./urls.ts";

const LINKS_SHOWN = 50;
const PATH = "/portal/links";
const LONGEST_KEY = 400;

/** Unknown values fall back to the defaults. */
const Query = z.object({
  q: z.string().trim().max(LONGEST_URL).default("").catch(""),
  tag: z
    .string()
    .trim()
    .transform((tag) => tag || undefined)
    .optional()
    .catch(undefined),
  status: z.enum(LINK_STATUSES).optional().catch(undefined),
  domain: z
    .union([z.literal("default"), z.uuid()])
    .optional()
    .catch(undefined),
  sort: z.literal("clicks").optional().catch(undefined),
  page: z.coerce.number().int().min(1).max(1_000_000).default(1).catch(1),
});

/** `domain`: a domain's id, or `default`. */
type ListQuery = z.infer<typeof Query>;

/** A field that was sent once is a text, else a list. */
const texts = z.preprocess(
  (value) => [value ?? []].flat(),
  z.array(z.string().max(LONGEST_KEY)).max(LINKS_SHOWN),
);

const SeveralForm = z.object({ change: z.enum(CHANGE_NAMES), link: texts });

/** What was not changed, and why. `chosen`: the keys of the links that stay chosen. */
type Refused = { message: string; status: number; chosen: readonly string[] };

export function linksPages(app: Api, deps: PortalDeps): void {
  const list = { preHandler: requireSession, schema: { querystring: Query } };
  app.get("/links", list, async (request, reply) => {
    if (request.query.q !== "") await countRead(deps, signedIn(request));
    return await sendLinks(deps, reply, request.query);
  });

  formRoute(app, deps, "/links/several", {
    schema: { querystring: Query, body: SeveralForm },
    async run({ reply, query, body: { change, link }, ...by }) {
      const { text, changed, refused, position } = await changeSeveral(deps, by, change, link);
      const notDone = { message: text, status: changed > 0 ? 200 : 409, chosen: refused };
      if (changed > 0 && refused.length === 0) return { position, to: listPath(query), notice: text };
      return { position, to: () => sendLinks(deps, reply, query, notDone) };
    },
    again({ status, message, typed }, request, reply) {
      const chosen = texts.catch([]).parse(typed.link);
      return sendLinks(deps, reply, Query.parse(request.query), { message, status, chosen });
    },
    path: (request) => listPath(Query.parse(request.query)),
  });
}

async function sendLinks(
  deps: PortalDeps,
  reply: FastifyReply,
  query: ListQuery,
  refused?: Refused,
): Promise<FastifyReply> {
  const { accountId } = signedIn(reply.request);
  const domains = await listDomains(deps, accountId);
  const { links, deleted } = await countLinks(deps, accountId);
  const { q, tag, status, domain, sort, page } = query;
  const paging = { page, limit: LINKS_SHOWN };
  const domainId = domain === "default" ? null : domain;
  const found =
    sort === "clicks"
      ? await topLinks(deps, accountId, paging)
      : await accountLinks(deps, accountId, { q, tag, status, domainId, ...paging });
  const columns = linkColumns(refused?.chosen ?? [], utcDate(deps.clock()));
  const list = html`<section class="card"><h2 class="visually-hidden">Your links</h2>
<form class="form" method="post" action="${listPath(query, found.page, `${PATH}/several`)}">${several(query)}
${table("Your links", columns, found.links, "links")}</form>
${(found.pages > 1 || found.page > 1) && pages(query, found)}</section>`;
  const first = html`<section class="card empty"><h2>No links yet</h2><p>Paste a long address. Your short link works the moment you see it.</p>
${createLinkForm(deps.newId())}</section>`;
  return sendPage(reply, {
    title: "Links",
    nav: "Links",
    status: refused?.status,
    notice: refused && { kind: "failed", text: refused.message },
    styles: ["charts.css"],
    body: html`${pageHead("Links", { lead: `${counted(links, "link")}${deleted > 0 ? `, ${counted(deleted, "deleted one")}` : ""}.` })}
${
  links + deleted === 0
    ? first
    : html`${linkFilters(query, domains)}${found.links.length === 0 ? nothing(query) : list}`
}`,
  });
}

/** The page's address; `page` and everything else that is the default is left out. */
function listPath(query: ListQuery, page = query.page, path = PATH): string {
  return address(path, { ...filtersOf(query), page: page === 1 ? "" : page });
}

function filtersOf({ q, tag, status, domain, sort }: ListQuery) {
  return { q: q || undefined, tag, status, domain, sort };
}

/** Collapsed on a phone, unless the list is filtered. */
function linkFilters({ q, tag, status, domain, sort }: ListQuery, domains: readonly DomainDocument[]): Html {
  const own = domains.flatMap(({ domainId, hostname }) =>
    domainId ? [[domainId, readableUrl(hostname)] as const] : [],
  );
  const options = [["", "All domains"], ["default", "Default domain"], ...own] as const;
  const isFiltered = [q || undefined, tag, status, domain].some((filter) => filter !== undefined);
  const statuses = [["", "All links"], ...Object.entries(STATUS_WORDS)] as const;
  const search = { label: "Search", name: "q", type: "search", value: q, autocomplete: "off" } as const;
  const order = (path: string, name: string, isCurrent: boolean) =>
    html`<a href="${path}" ${isCurrent && html`aria-current="true"`}>${name}</a>`;
  return html`<div class="list-head"><details class="filters" ${isFiltered && html`open`}><summary class="button">${icon("search")}Search and filter</summary>
<form method="get" action="${PATH}" class="form-row" role="search">
${field({ ...search, placeholder: "Words of the link, its destination, title, tags or comments" })}
${field({ label: "Tag", name: "tag", value: tag ?? "", maxlength: OPTION_LIMITS.tag, autocomplete: "off" })}
${choice({ label: "Status", name: "status", value: status, options: statuses })}
${domains.length > 0 && choice({ id: "filter-domain", label: "Domain", name: "domain", value: domain, options })}
<button class="button">${icon("search")}Search</button></form></details>
<nav class="choices" aria-label="Order">${order(PATH, "Newest", !sort)}${order(`${PATH}?sort=clicks`, "Most clicked", sort === "clicks")}</nav></div>`;
}

/** What can be done with the chosen links. */
function several({ status }: ListQuery): Html {
  const act = (change: string, label: string, danger = "") =>
    html`<button class="button ${danger}" name="change" value="${change}">${label}</button>`;
  const question = html`<p>The chosen links answer 404 at once. You can restore them at any time: they stay in your list under “Deleted”.</p>`;
  const others = html`${status !== "disabled" && act("disable", "Disable")}${status !== "live" && act("enable", "Enable")}
${confirmed("Delete", question, act("delete", "Delete chosen links", "button-danger"))}`;
  return html`<div class="actions several"><label class="check" hidden><input type="checkbox" data-choose="link">All</label>${
    status === "deleted" ? act("restore", "Restore chosen") : others
  }</div>`;
}

/** `chosen`: keys of the links whose boxes are ticked. `today`: YYYY-MM-DD, UTC. */
function linkColumns(chosen: readonly string[], today: string): Column<ListedLink>[] {
  const short = (link: ListedLink) => {
    const { _id: key, shortUrl, status } = link;
    const [id, name] = [`short-${key}`, shortName(link)];
    return html`<div><span class="short"><input type="checkbox" name="link" value="${key}" aria-label="Choose ${name}" ${chosen.includes(key) && html`checked`}>
<a class="clip" href="${linkPath(link)}">${name}</a>${statusBadge(status)}<span id="${id}" hidden>${shortUrl}</span>
<button type="button" class="button button-icon" data-copy="${id}" aria-label="Copy ${name}" title="Copy" hidden>${icon("copy")}</button></span>${about(link)}</div>`;
  };
  const clicks = (link: ListedLink) =>
    html`<span class="clicks">${lastDaysChart(link, today)}<a href="${linkPath(link, "/analytics")}" aria-label="${count(link.clicks)} clicks, view analytics">${count(link.clicks)}</a></span>`;
  return [
    { name: "Short link", cell: short },
    { name: "Destination", cell: ({ longUrl }) => outward(longUrl) },
    { name: "Clicks", cell: clicks, end: true },
    { name: "Made", cell: ({ createdAt }) => html`<span class="nowrap">${time(createdAt)}</span>` },
  ];
}

/** Its title and its tags. */
function about({ title, tags = [] }: ListedLink): Html | false {
  return (
    (title !== undefined || tags.length > 0) &&
    html`<div class="about small">${title !== undefined && html`<span class="clip muted" dir="auto" title="${title}">${title}</span>`}${tags.map(tagLink)}</div>`
  );
}

const HEIGHT = 20;
const BAR = 5;
const WIDTH = LAST_DAYS * (BAR + 1);

/** The clicks of the last days, the same in words. */
function lastDaysChart({ lastDays, date }: ListedLink, today: string): Html {
  const days = lastDaysUntil(today, lastDays, date);
  const most = Math.max(...days);
  const bars = days.map((clicks, n) => {
    const height = clicks === 0 ? 1 : Math.max(2, Math.round((clicks / most) * HEIGHT));
    return `M${n * (BAR + 1)} ${HEIGHT}v-${height}h${BAR}v${height}z`;
  });
  const sum = days.reduce((all, clicks) => all + clicks, 0);
  const text = `${counted(sum, "click")} in the last ${LAST_DAYS} days${sum > 0 ? `, at most ${count(most)} a day` : ""}`;
  return html`<svg class="last-days" role="img" aria-label="${text}" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}"><title>${text}</title><path d="${bars.join("")}"/></svg>`;
}

/** First, previous, next, last, and a page by its number; the last of the most clicked ones is not known. */
function pages(query: ListQuery, { page, pages }: AccountLinksPage): Html {
  const to = (number: number, label: string, rel = "") =>
    html`<a class="button" ${rel && html`rel="${rel}"`} href="${listPath(query, number)}">${label}</a>`;
  const last = query.sort ? undefined : pages;
  return html`<nav class="actions pages" aria-label="Pages">${page > 1 && html`${to(1, "First")}${to(page - 1, "Previous", "prev")}`}
${page < pages && html`${to(page + 1, "Next", "next")}${last !== undefined && to(last, "Last")}`}
<form class="actions" method="get" action="${PATH}">${hiddenFields(filtersOf(query))}
<label for="page">Page</label><input class="page-number" id="page" name="page" type="number" min="1" ${last !== undefined && html`max="${last}"`} value="${page}" required>${last !== undefined && html`<span>of ${count(last)}</span>`}<button class="button">Go</button></form></nav>`;
}

/** Why the list is empty. */
function nothing({ q, tag, status, domain, sort, page }: ListQuery): Html {
  if (sort && page === 1)
    return emptyCard("link", "Nobody has clicked yet", "Links appear here once somebody has opened them.");
  if (q || tag || domain || sort || status)
    return emptyCard("link", "Nothing found", html`No link matches. <a href="${PATH}">Show all links</a>`);
  const deleted = html`You can restore them. <a href="${PATH}?status=deleted">Show deleted links</a>`;
  return emptyCard("link", "All your links are deleted", deleted);
}
