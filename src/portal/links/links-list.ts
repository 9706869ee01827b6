// The list of links: filter form, table in a form for several links at once, paging.
import { LAST_DAYS, lastDaysUntil } from "../../projections/definitions/days/last-days.ts";
import type { DomainDocument } from "../../projections/definitions/domains.ts";
import type { AccountLinksPage, LinkFilter, ListedLink } from "../../queries/links/list-links.ts";
import { address } from "../shell/address.ts";
import { choice, confirmed, field, time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { emptyCard, hiddenFields } from "../shell/parts.ts";
import {
  blockBadge,
  count,
  counted,
  isServed,
  linkPath,
  outward,
  shortName,
  statusBadge,
} from "./link-view.ts";
import { readableUrl } from "./urls.ts";

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
  return { q: q || undefined, show: show === "existing" ? undefined : show, domain, sort };
}

/** Collapsed on a phone, unless the list is filtered. */
export function linkFilters(query: ListQuery, domains: readonly DomainDocument[]): Html {
  const { q, show, domain, sort } = query;
  const own = domains.flatMap(({ domainId, hostname }) =>
    domainId ? [[domainId, readableUrl(hostname)] as const] : [],
  );
  const options = [["", "All domains"], ["default", "Default domain"], ...own] as const;
  const isFiltered = q !== "" || show !== "existing" || domain !== undefined;
  const search = { label: "Search", name: "q", type: "search", value: q, autocomplete: "off" } as const;
  const order = (path: string, name: string, isCurrent: boolean) =>
    html`<a href="${path}" ${isCurrent && html`aria-current="true"`}>${name}</a>`;
  return html`<div class="list-head"><details class="filters" ${isFiltered && html`open`}><summary class="button">${icon("search")}Search and filter</summary>
<form method="get" action="/portal/links" class="form-row" role="search">
${field({ ...search, placeholder: "Part of the short link or its destination" })}
${choice({ label: "Show", name: "show", value: show, options: Object.entries(SHOWN) })}
${domains.length > 0 && choice({ id: "filter-domain", label: "Domain", name: "domain", value: domain, options })}
<button class="button">${icon("search")}Search</button></form></details>
<nav class="choices" aria-label="Order">${order("/portal/links", "Newest", !sort)}${order("/portal/links?sort=clicks", "Most clicked", sort === "clicks")}</nav></div>`;
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
  const question = html`<p>The chosen links answer 404 at once. You can restore them at any time: they stay in your list under “Deleted”.</p>`;
  const others = html`${show !== "disabled" && act("disable", "Disable")}${show !== "live" && act("enable", "Enable")}
${confirmed("Delete", question, act("delete", "Delete chosen links", "button-danger"))}`;
  return html`<div class="actions several"><label class="check" hidden><input type="checkbox" data-choose="link">All</label>${
    show === "deleted" ? act("restore", "Restore chosen") : others
  }</div>`;
}

function row(link: ListedLink, index: number, isServed: boolean, { chosen, today }: ListForm): Html {
  const id = `short-${index}`;
  const { _id: key } = link;
  const clicks = count(link.clicks);
  return html`<tr><td><span class="short"><input type="checkbox" name="link" value="${key}" aria-label="Choose ${shortName(link)}" ${chosen.includes(key) && html`checked`}>
<a class="clip" href="${linkPath(link)}">${shortName(link)}</a>${blockBadge(link)}${statusBadge(link.status, isServed)}<span id="${id}" hidden>${link.shortUrl}</span>
<button type="button" class="button button-icon" data-copy="${id}" aria-label="Copy ${shortName(link)}" title="Copy" hidden>${icon("copy")}</button></span></td>
<td data-label="Destination">${outward(link.longUrl)}</td>
<td class="end number" data-label="Clicks"><span class="clicks">${lastDaysChart(link, today)}<a href="${linkPath(link, "/analytics")}" aria-label="${clicks} clicks, view analytics">${clicks}</a></span></td>
<td data-label="Made" class="nowrap">${time(link.createdAt)}</td></tr>`;
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
<form class="actions" method="get" action="/portal/links">${hiddenFields(filtersOf(query))}
<label for="page">Page</label><input class="page-number" id="page" name="page" type="number" min="1" ${last !== undefined && html`max="${last}"`} value="${page}" required>${last !== undefined && html`<span>of ${count(last)}</span>`}<button class="button">Go</button></form></nav>`;
}

/** Why the list is empty. */
function nothing(query: ListQuery, total: { links: number; deleted: number }): Html {
  const { q, show, domain, sort, page } = query;
  const empty = (title: string, text: string, path = "", name = "Show all links") =>
    emptyCard("link", title, html`${text} ${path && html`<a href="${path}">${name}</a>`}`);
  if (sort && page > 1)
    return empty(
      "Nothing here",
      "The most clicked links end before this page.",
      listPath(query, 1),
      "First page",
    );
  if (sort) return empty("Nobody has clicked yet", "Links appear here once somebody has opened them.");
  if (q || domain) return empty("Nothing found", "No link matches.", "/portal/links");
  if (show === "deleted")
    return empty("Nothing deleted", "Deleted links come here; they can be restored for as long as you like.");
  if (total.links > 0)
    return empty("Nothing here", `None of your links is ${SHOWN[show].toLowerCase()}.`, "/portal/links");
  const deleted = "/portal/links?show=deleted";
  return empty("All your links are deleted", "You can restore them.", deleted, "Show deleted links");
}
