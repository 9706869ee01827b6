// Search, filters and order of the list of links, all in its address.
import { z } from "zod";
import { OPTION_LIMITS } from "../../events/link-options.ts";
import { LINK_STATUSES } from "../../events/links/link-status.ts";
import type { DomainDocument } from "../../projections/definitions/domains.ts";
import type { KeyDocument } from "../../projections/definitions/keys.ts";
import { type AccountLinksFilter, DEFAULT_DOMAIN, MAKERS } from "../../queries/links/list-links.ts";
import { address } from "../shell/address.ts";
import { field, hiddenFields } from "../shell/form.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { LONGEST_URL, STATUS_WORDS } from "./link-view.ts";
import { readableUrl } from "./urls.ts";

export const LINKS_PATH = "/portal/links";
const LONGEST_CURSOR = 400;

const text = z.string().max(LONGEST_CURSOR).optional().catch(undefined);

/** Unknown values fall back to the defaults. */
export const ListQuery = z.object({
  q: z.string().trim().max(LONGEST_URL).default("").catch(""),
  tag: z
    .string()
    .trim()
    .normalize("NFC")
    .transform((tag) => tag || undefined)
    .optional()
    .catch(undefined),
  status: z.enum(LINK_STATUSES).optional().catch(undefined),
  domain: z
    .union([z.literal(DEFAULT_DOMAIN), z.uuid()])
    .optional()
    .catch(undefined),
  made_by: z
    .union([z.enum(MAKERS), z.uuid()])
    .optional()
    .catch(undefined),
  sort: z.literal("clicks").optional().catch(undefined),
  after: text,
  before: text,
});

/** `domain`: a domain's id, or `default`. `made_by`: a key's id, or one of MAKERS. */
export type ListQuery = z.infer<typeof ListQuery>;

/** The page's address; what is the default is left out. */
export function listPath(query: ListQuery, path = LINKS_PATH): string {
  return address(path, query);
}

export function filterOf({ q, tag, status, domain, made_by: madeBy }: ListQuery): AccountLinksFilter {
  return { q, tag, status, domainId: domain === DEFAULT_DOMAIN ? null : domain, madeBy };
}

/** Collapsed on a phone, unless the list is filtered. */
export function linkFilters(
  query: ListQuery,
  { domains, keys }: { domains: readonly DomainDocument[]; keys: readonly KeyDocument[] },
): Html {
  const { q, tag, status, domain, made_by: madeBy, sort } = query;
  const own = domains.flatMap(({ domainId, hostname }) =>
    domainId ? [[domainId, readableUrl(hostname)] as const] : [],
  );
  const onDomains = [["", "All domains"], [DEFAULT_DOMAIN, "Default domain"], ...own] as const;
  const byKeys = keys.map((key) => [key._id, `Key ${keyName(key)}`] as const);
  const makers = [
    ["", "Anybody"],
    ["portal", "Portal and imports"],
    ["api", "Any API key"],
    ...byKeys,
  ] as const;
  const statuses = [["", "Any"], ...Object.entries(STATUS_WORDS)] as const;
  const isFiltered = [q || undefined, tag, status, domain, madeBy].some((filter) => filter !== undefined);
  const order = (wanted: ListQuery["sort"], name: string) =>
    html`<a href="${listPath({ ...query, sort: wanted, after: undefined, before: undefined })}" ${sort === wanted && html`aria-current="true"`}>${name}</a>`;
  return html`<div class="list-head"><details class="filters" ${isFiltered && html`open`}><summary class="button">${icon("search")}Search and filter</summary>
<form method="get" action="${LINKS_PATH}" class="form-row" role="search">${sort && hiddenFields({ sort })}
${field({ label: "Search", name: "q", type: "search", value: q, autocomplete: "off", placeholder: "Title, link, destination …" })}
${field({ label: "Tag", name: "tag", value: tag ?? "", maxlength: OPTION_LIMITS.tag, autocomplete: "off" })}
${field({ label: "Status", name: "status", value: status, options: statuses })}
${domains.length > 0 && field({ id: "filter-domain", label: "Domain", name: "domain", value: domain, options: onDomains })}
${field({ label: "Made by", name: "made_by", value: madeBy, options: makers })}
<button class="button">${icon("search")}Search</button></form></details>
<nav class="choices" aria-label="Order">${order(undefined, "Newest")}${order("clicks", "Most clicked")}</nav></div>`;
}

/** As its owner calls it, or else by its last characters. */
export function keyName({ label, hint }: Pick<KeyDocument, "label" | "hint">): string {
  return label === "" ? `…${hint}` : label;
}
