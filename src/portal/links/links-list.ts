// The list of links: filter form, table, paging.
import type { DomainDocument } from "../../projections/definitions/domains.ts";
import type { AccountLinksPage, LinkFilter, ListedLink } from "../../queries/links/account-links.ts";
import { address } from "../shell/address.ts";
import { choice, field, time } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { blockBadge, count, isServed, linkPath, outward, shortName, statusBadge } from "./link-view.ts";

/** The page's query parameters. `domain`: a domain id, or `default`. */
export type ListQuery = {
  q: string;
  show: LinkFilter;
  domain?: string | undefined;
  sort?: "clicks" | undefined;
  cursor?: string | undefined;
};

const SHOWN: Readonly<Record<LinkFilter, string>> = {
  existing: "All links",
  live: "Active",
  disabled: "Disabled",
  deleted: "Deleted",
};

export function linkFilters({ q, show, domain, sort }: ListQuery, domains: readonly DomainDocument[]): Html {
  const own = domains.flatMap(({ domainId, hostname }) => (domainId ? [[domainId, hostname] as const] : []));
  const options = [["", "All domains"], ["default", "Default domain"], ...own] as const;
  return html`<form method="get" action="/portal/links" class="form-row filters" role="search">
${field({ label: "Search", name: "q", type: "search", value: q, placeholder: "Part of the short or the long address", autocomplete: "off" })}
${choice({ label: "Show", name: "show", value: show, options: Object.entries(SHOWN) })}
${domains.length > 0 && choice({ id: "filter-domain", label: "Domain", name: "domain", value: domain, options })}
<button class="button">${icon("search")}Search</button>
<nav class="choices" aria-label="Order"><a href="/portal/links" ${sort ? "" : html`aria-current="true"`}>Newest</a><a href="/portal/links?sort=clicks" ${sort ? html`aria-current="true"` : ""}>Most clicked</a></nav>
</form>`;
}

export function linkList(
  query: ListQuery,
  { links, next }: AccountLinksPage,
  total: { links: number; deleted: number },
  domains: readonly DomainDocument[],
): Html {
  if (links.length === 0) return nothing(query, total);
  return html`<section class="card"><h2 class="visually-hidden">Your links</h2><table class="table table-links">
<thead><tr><th scope="col">Short link</th><th scope="col">Leads to</th><th scope="col" class="end">Hits</th><th scope="col">State</th><th scope="col">Made</th></tr></thead>
<tbody>${links.map((link, index) => row(link, index, isServed(link, domains)))}</tbody></table>
${(query.cursor !== undefined || next !== null) && pages(query, next)}</section>`;
}

function pages(query: ListQuery, next: string | null): Html {
  return html`<nav class="actions" aria-label="Pages">${query.cursor !== undefined && html`<a class="button" href="${pagePath(query)}">First page</a>`}
${next !== null && html`<a class="button" rel="next" href="${pagePath(query, next)}">Next page</a>`}</nav>`;
}

function row(link: ListedLink, index: number, isServed: boolean): Html {
  const id = `short-${index}`;
  return html`<tr><td><span class="short"><a class="clip" href="${linkPath(link)}">${shortName(link)}</a><span id="${id}" hidden>${link.shortUrl}</span>
<button type="button" class="button button-icon" data-copy="${id}" aria-label="Copy ${shortName(link)}" title="Copy" hidden>${icon("copy")}</button></span></td>
<td data-label="Leads to">${outward(link.longUrl)}</td>
<td class="end number" data-label="Hits"><a href="${linkPath(link, "/analytics")}" aria-label="${count(link.clicks)} hits, see who">${count(link.clicks)}</a></td>
<td data-label="State">${blockBadge(link)} ${(!link.block || link.status !== "live") && statusBadge(link.status, isServed)}</td>
<td data-label="Made" class="nowrap">${time(link.createdAt)}</td></tr>`;
}

function nothing({ q, show, domain, sort }: ListQuery, total: { links: number; deleted: number }): Html {
  if (sort) return empty("Nobody has clicked yet", "Links appear here once somebody has followed them.");
  if (q || domain)
    return empty("Nothing found", html`No link matches. <a href="/portal/links">Show all links</a>`);
  if (show === "deleted")
    return empty("Nothing deleted", "Deleted links come here; they can be restored for as long as you like.");
  if (total.links + total.deleted === 0)
    return empty("No links yet", "Paste a long address above. Your short link works the moment you see it.");
  return empty(
    "Nothing here",
    html`None of your links is in this state. <a href="/portal/links">Show all links</a>`,
  );
}

function empty(title: string, text: string | Html): Html {
  return html`<section class="card empty">${icon("link")}<h2>${title}</h2><p>${text}</p></section>`;
}

function pagePath({ q, show, domain, sort }: ListQuery, cursor?: string): string {
  return address("/portal/links", { q, show: show === "existing" ? "" : show, domain, sort, cursor });
}
