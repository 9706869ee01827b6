// The list of links: filter form, table in a form for several links at once, paging.
import type { DomainDocument } from "../../projections/definitions/domains.ts";
import type { AccountLinksPage, LinkFilter, ListedLink } from "../../queries/links/list-links.ts";
import { address } from "../shell/address.ts";
import { choice, confirmed, field, time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { lastDaysChart } from "./last-days-chart.ts";
import { blockBadge, count, isServed, linkPath, outward, shortName, statusBadge } from "./link-view.ts";
import { readableUrl } from "./readable-url.ts";

/** The page's query parameters. `domain`: a domain id, or `default`. */
export type ListQuery = {
  q: string;
  show: LinkFilter;
  domain?: string | undefined;
  sort?: "clicks" | undefined;
  page: number;
};

/** `chosen`: keys of the links whose boxes are ticked. `today`: YYYY-MM-DD, UTC. */
type ListForm = { chosen: readonly string[]; today: string };

const SHOWN: Readonly<Record<LinkFilter, string>> = {
  existing: "All links",
  live: "Active",
  disabled: "Disabled",
  deleted: "Deleted",
};

/** The page's address; `page` and everything else that is the default is left out. */
export function listPath(query: ListQuery, page = query.page, path = "/portal/links"): string {
  return address(path, { ...filtersOf(query), page: page === 1 ? "" : page });
}

function filtersOf({ q, show, domain, sort }: ListQuery) {
  return { q, show: show === "existing" ? "" : show, domain, sort };
}

/** Collapsed on a phone, unless the list is filtered. */
export function linkFilters(query: ListQuery, domains: readonly DomainDocument[]): Html {
  const { q, show, domain, sort } = query;
  const own = domains.flatMap(({ domainId, hostname }) =>
    domainId ? [[domainId, readableUrl(hostname)] as const] : [],
  );
  const options = [["", "All domains"], ["default", "Default domain"], ...own] as const;
  const isFiltered = q !== "" || show !== "existing" || domain !== undefined;
  return html`<div class="list-head"><details class="filters" ${isFiltered ? html`open` : ""}><summary class="button">${icon("search")}Search and filter</summary>
<form method="get" action="/portal/links" class="form-row" role="search">
${field({ label: "Search", name: "q", type: "search", value: q, placeholder: "Part of the short link or its destination", autocomplete: "off" })}
${choice({ label: "Show", name: "show", value: show, options: Object.entries(SHOWN) })}
${domains.length > 0 && choice({ id: "filter-domain", label: "Domain", name: "domain", value: domain, options })}
<button class="button">${icon("search")}Search</button></form></details>
<nav class="choices" aria-label="Order"><a href="/portal/links" ${sort ? "" : html`aria-current="true"`}>Newest</a><a href="/portal/links?sort=clicks" ${sort ? html`aria-current="true"` : ""}>Most clicked</a></nav></div>`;
}

export function linkList(
  query: ListQuery,
  page: AccountLinksPage,
  total: { links: number; deleted: number },
  domains: readonly DomainDocument[],
  form: ListForm,
): Html {
  if (page.links.length === 0) return nothing(query, total);
  return html`<section class="card"><h2 class="visually-hidden">Your links</h2>
<form class="form" method="post" action="${listPath(query, page.page, "/portal/links/several")}">${several(query)}
<table class="table table-links">
<thead><tr><th scope="col">Short link</th><th scope="col">Destination</th><th scope="col" class="end">Clicks</th><th scope="col">Made</th></tr></thead>
<tbody>${page.links.map((link, index) => row(link, index, isServed(link, domains), form))}</tbody></table></form>
${(page.pages > 1 || page.page > 1) && pages(query, page)}</section>`;
}

/** What can be done with the chosen links. */
function several({ show }: ListQuery): Html {
  const act = (change: string, label: string, danger = "") =>
    html`<button class="button ${danger}" name="change" value="${change}">${label}</button>`;
  const all = html`<label class="check" hidden><input type="checkbox" data-choose="link">All</label>`;
  if (show === "deleted")
    return html`<div class="actions several">${all}${act("restore", "Restore chosen")}</div>`;
  return html`<div class="actions several">${all}${show !== "disabled" && act("disable", "Disable")}${show !== "live" && act("enable", "Enable")}
${confirmed(
  "Delete",
  html`<p>The chosen links answer 404 at once. You can restore them at any time: they stay in your list under “Deleted”.</p>`,
  act("delete", "Delete chosen links", "button-danger"),
)}</div>`;
}

function row(link: ListedLink, index: number, isServed: boolean, { chosen, today }: ListForm): Html {
  const id = `short-${index}`;
  const { _id: key } = link;
  return html`<tr><td><span class="short"><input type="checkbox" name="link" value="${key}" aria-label="Choose ${shortName(link)}" ${chosen.includes(key) ? html`checked` : ""}>
<a class="clip" href="${linkPath(link)}">${shortName(link)}</a>${blockBadge(link)}${statusBadge(link.status, isServed)}<span id="${id}" hidden>${link.shortUrl}</span>
<button type="button" class="button button-icon" data-copy="${id}" aria-label="Copy ${shortName(link)}" title="Copy" hidden>${icon("copy")}</button></span></td>
<td data-label="Destination">${outward(link.longUrl)}</td>
<td class="end number" data-label="Clicks"><span class="clicks">${lastDaysChart(link, today)}<a href="${linkPath(link, "/analytics")}" aria-label="${count(link.clicks)} clicks, view analytics">${count(link.clicks)}</a></span></td>
<td data-label="Made" class="nowrap">${time(link.createdAt)}</td></tr>`;
}

/** First, previous, next, last, and a page by its number; the last of the most clicked ones is not known. */
function pages(query: ListQuery, { page, pages }: AccountLinksPage): Html {
  const to = (number: number, label: string, rel = "") =>
    html`<a class="button" ${rel && html`rel="${rel}"`} href="${listPath(query, number)}">${label}</a>`;
  const last = query.sort ? undefined : pages;
  const kept = Object.entries(filtersOf(query)).filter(([, value]) => value);
  return html`<nav class="actions pages" aria-label="Pages">${page > 1 && html`${to(1, "First")}${to(page - 1, "Previous", "prev")}`}
${page < pages && html`${to(page + 1, "Next", "next")}${last !== undefined && to(last, "Last")}`}
<form class="actions" method="get" action="/portal/links">${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<label for="page">Page</label><input class="page-number" id="page" name="page" type="number" min="1" ${last !== undefined && html`max="${last}"`} value="${page}" required>${last !== undefined && html`<span>of ${count(last)}</span>`}<button class="button">Go</button></form></nav>`;
}

function nothing(
  { q, show, domain, sort, page }: ListQuery,
  total: { links: number; deleted: number },
): Html {
  if (sort && page > 1)
    return empty(
      "Nothing here",
      html`The most clicked links end before this page. <a href="/portal/links?sort=clicks">First page</a>`,
    );
  if (sort) return empty("Nobody has clicked yet", "Links appear here once somebody has opened them.");
  if (q || domain)
    return empty("Nothing found", html`No link matches. <a href="/portal/links">Show all links</a>`);
  if (show === "deleted")
    return empty("Nothing deleted", "Deleted links come here; they can be restored for as long as you like.");
  if (total.links === 0)
    return empty(
      "All your links are deleted",
      html`You can restore them. <a href="/portal/links?show=deleted">Show deleted links</a>`,
    );
  return empty(
    "Nothing here",
    html`None of your links is ${SHOWN[show].toLowerCase()}. <a href="/portal/links">Show all links</a>`,
  );
}

function empty(title: string, text: string | Html): Html {
  return html`<section class="card empty">${icon("link")}<h2>${title}</h2><p>${text}</p></section>`;
}
