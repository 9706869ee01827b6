// Search, filters and order of the list of links, all in its address.
import { z } from "zod";
import { FILTER_PARAMETERS, type FilterQuery } from "../../commands/links/saved-filters.ts";
import { OPTION_LIMITS } from "../../events/link-options.ts";
import { LINK_STATUSES } from "../../events/links/link-status.ts";
import { DEFAULT_DOMAIN, LINK_MAKERS } from "../../events/vocabulary.ts";
import type { DomainDocument } from "../../projections/definitions/domains.ts";
import type { KeyDocument } from "../../projections/definitions/keys.ts";
import { timeZone, UTC } from "../../queries/analytics/time-zone.ts";
import { type AccountLinksFilter, madeBetween } from "../../queries/links/list-links.ts";
import { parseLocalMoment } from "../../runtime/moment.ts";
import { LONGEST_URL, STATUS_WORDS } from "../links/link-view.ts";
import { readableUrl } from "../links/urls.ts";
import { address } from "../shell/address.ts";
import { field, hiddenFields } from "../shell/controls.ts";
import { type Html, type HtmlValue, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";
import { choices } from "../shell/layout.ts";

export const LINKS_PATH = "/portal/links";
/** Where the form of the chosen links is sent. */
export const SEVERAL = `${LINKS_PATH}/several`;
const LONGEST_CURSOR = 400;

/** What is none of its values is left out. */
const orNone = <S extends z.ZodType>(schema: S) => schema.optional().catch(undefined);

const cursor = orNone(z.string().max(LONGEST_CURSOR));
const day = orNone(
  z
    .string()
    .trim()
    .max(40)
    .refine((typed) => parseLocalMoment(typed) !== undefined),
);

export const ListQuery = z.object({
  q: z.string().trim().max(LONGEST_URL).default("").catch(""),
  tag: orNone(
    z
      .string()
      .trim()
      .normalize("NFC")
      .transform((tag) => tag || undefined),
  ),
  status: orNone(z.enum(LINK_STATUSES)),
  domain_id: orNone(z.union([z.literal(DEFAULT_DOMAIN), z.uuid()])),
  made_by: orNone(z.union([z.enum(LINK_MAKERS), z.uuid()])),
  from: day,
  to: day,
  sort: orNone(z.literal("clicks")),
  after: cursor,
  before: cursor,
});

/** Filters as parameters of GET /api/v1/links have them, and the place in the list. */
export type ListQuery = z.infer<typeof ListQuery>;

/** The page's address; what is the default is left out. */
export function listPath(query: Partial<ListQuery> | FilterQuery, path = LINKS_PATH): string {
  return address(path, query);
}

/** What filters, without order and place. */
export function filtersIn(query: ListQuery): FilterQuery {
  const filters = FILTER_PARAMETERS.map((name) => [name, query[name]] as const);
  return Object.fromEntries(filters.filter(([, value]) => value));
}

/** `zone`: in which days begin; UTC where it is none. */
export function filterOf(query: ListQuery, zone: string | undefined): AccountLinksFilter {
  const { q, tag, status, domain_id: domain, made_by: madeBy } = query;
  const domainId = domain === DEFAULT_DOMAIN ? null : domain;
  return { q, tag, status, domainId, madeBy, ...madeBetween(query, timeZone(zone ?? "") ?? UTC) };
}

/**
 * Collapsed on a phone, unless the list is filtered. `people`: members, and who else made what is listed. `beside`: what stands
 * below the filters, beside the order.
 */
export function linkFilters(
  query: ListQuery,
  {
    domains,
    keys,
    people,
  }: {
    domains: readonly DomainDocument[];
    keys: readonly KeyDocument[];
    people: ReadonlyMap<string, string>;
  },
  beside: HtmlValue,
): Html {
  const { q, tag, status, domain_id: domain, made_by: madeBy, from, to, sort } = query;
  const own = domains.flatMap(({ domainId, hostname }) =>
    domainId ? [[domainId, readableUrl(hostname)] as const] : [],
  );
  const onDomains = [["", "All domains"], [DEFAULT_DOMAIN, "Default domain"], ...own] as const;
  const byKeys = keys.map((key) => [key._id, `Key ${keyName(key)}`] as const);
  const makers = [
    ["", "Anybody"],
    ["portal", "Portal and imports"],
    ["api", "Any API key"],
    ...people,
    ...byKeys,
  ] as const;
  const statuses = [["", "Any"], ...Object.entries(STATUS_WORDS)] as const;
  const set = Object.keys(filtersIn(query)).length;
  const order = (name: string, wanted: ListQuery["sort"]) =>
    [
      name,
      listPath({ ...query, sort: wanted, after: undefined, before: undefined }),
      sort === wanted,
    ] as const;
  return html`<div class="list-head"><details class="filters" ${set > 0 && html`open`}><summary class="button">${icon("search")}Search and filter${set > 0 && ` (${set} set)`}</summary>
<form method="get" action="${LINKS_PATH}" class="form-row" role="search" data-at-once>${sort && hiddenFields({ sort })}
${field({ label: "Search", name: "q", type: "search", value: q, placeholder: "Title, link, destination …" })}
${field({ label: "Tag", name: "tag", value: tag ?? "", maxlength: OPTION_LIMITS.tag })}
${field({ label: "Status", name: "status", value: status, options: statuses })}
${domains.length > 0 && field({ id: "filter-domain", label: "Domain", name: "domain_id", value: domain, options: onDomains })}
${field({ label: "Made by", name: "made_by", value: madeBy, options: makers })}
${field({ label: "Made from", name: "from", type: "date", value: from?.slice(0, 10) })}
${field({ label: "Made before", name: "to", type: "date", value: to?.slice(0, 10) })}
<button class="button">${icon("search")}Search</button></form></details>
${beside}${choices("Order", [order("Newest", undefined), order("Most clicked", "clicks")])}</div>`;
}

/** As its owner calls it, or else by its last characters. */
export function keyName({ label, hint }: Pick<KeyDocument, "label" | "hint">): string {
  return label === "" ? `…${hint}` : label;
}
