// Lists of links, newest first, with search and filters: of a key for the API, of an account for the portal.
import type { LinkStatus } from "../../events/links/link-status.ts";
import { searchWords } from "../../events/links/search-text.ts";
import { DEFAULT_DOMAIN } from "../../events/vocabulary.ts";
import {
  type AccountLinksDocument,
  accountLinks as linksOfAccounts,
} from "../../projections/definitions/account-links.ts";
import { type LinkTotalsDocument, linkTotals } from "../../projections/definitions/link-totals.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import { documentPages, documentsById } from "../../stores/read-store/document-pages.ts";
import type { CountQuery } from "../../stores/read-store/port.ts";
import { timeOf } from "../analytics/range.ts";
import type { TimeZone } from "../analytics/time-zone.ts";
import { type Page, type PageRequest, readPage } from "../cursor.ts";
import { type LinkDetailsObject, linkDetailsObject } from "./link-object.ts";
import { type StatusDeps, statusesOf, withStatus } from "./link-statuses.ts";

export type ListLinksDeps = StatusDeps & { baseUrl: string };

type LinkFilter = {
  /** Words, each a part of the URLs, title, tags, external id or comments, whatever its case and accents. */
  q?: string | undefined;
  tag?: string | undefined;
  externalId?: string | undefined;
  /** By default all that are not deleted. */
  status?: LinkStatus | undefined;
  /** A domain's id; null for the default domain. */
  domainId?: string | null | undefined;
  /** By programs, in the portal or by an import, or with the API key of this id. */
  madeBy?: string | undefined;
  /** Created at or after, and before, in milliseconds. */
  from?: number | undefined;
  to?: number | undefined;
};

export const LINK_ORDERS = ["-created_at", "created_at"] as const;
/** Links of the caller's key, or all of its account. */
export const LINK_SCOPES = ["key", "account"] as const;

export type ListLinksOptions = Pick<LinkFilter, "q" | "from" | "to" | "tag" | "status"> & {
  limit: number;
  cursor?: string | undefined;
  /** A domain's id, or DEFAULT_DOMAIN. */
  domain_id?: string | undefined;
  external_id?: string | undefined;
  made_by?: string | undefined;
  sort?: (typeof LINK_ORDERS)[number] | undefined;
  scope?: (typeof LINK_SCOPES)[number] | undefined;
};

export type LinkPage = {
  links: LinkDetailsObject[];
  total: number;
  next_cursor: string | null;
};

export type AccountLinksFilter = Omit<LinkFilter, "externalId">;

/** Times of links as they are typed: days and times without an offset are those of `zone`. @throws invalid_range */
export function madeBetween(
  { from, to }: { from?: string | undefined; to?: string | undefined },
  zone: TimeZone,
): Pick<LinkFilter, "from" | "to"> {
  return {
    from: from === undefined ? undefined : timeOf(from, zone, "from"),
    to: to === undefined ? undefined : timeOf(to, zone, "to"),
  };
}

/** `clicks`: of people; `lastDays`: those of the day `date` and of the days before it (last-days.ts). */
export type ListedLink = LinkDocument & {
  status: LinkStatus;
  clicks: number;
  lastDays: number[];
  date: string;
};

export type AccountLinksPage = Omit<Page<never>, "page"> & { links: ListedLink[] };

const NEWEST = { field: "createdAt", direction: "desc" } as const;
const OLDEST = { field: "createdAt", direction: "asc" } as const;

/**
 * GET /api/v1/links: the links created with the caller's key, or with `scope` all of the account. `total` counts all links
 * that match, on every page; `next_cursor` is null on the last one. @throws invalid_cursor, too_many_links
 */
export async function listLinks(
  deps: ListLinksDeps,
  { keyId, accountId }: { keyId: string; accountId: string },
  options: ListLinksOptions,
): Promise<LinkPage> {
  const { cursor, limit, domain_id, external_id: externalId, made_by: madeBy, ...others } = options;
  const { scope = "key", sort: order = "-created_at", ...more } = others;
  const of = scope === "account" ? { accountId } : { keyId, accountId };
  const domainId = domain_id === DEFAULT_DOMAIN ? null : domain_id;
  const filter = await filterOf(deps, of, { ...more, domainId, externalId, madeBy });
  const sort = order === "-created_at" ? NEWEST : OLDEST;
  const { page, next } = await linksPage(deps, filter, { after: cursor, limit }, sort);
  const statuses = await statusesOf(deps, page);
  return {
    links: page.map((link, n) => linkDetailsObject(link, statuses[n] as LinkStatus, deps.baseUrl)),
    total: await deps.readStore.count(links.collection.name, filter),
    next_cursor: next,
  };
}

/** An account's links, newest first, with their clicks. @throws invalid_cursor, too_many_links */
export async function accountLinks(
  deps: StatusDeps,
  accountId: string,
  { after, before, limit, ...options }: AccountLinksFilter & PageRequest,
): Promise<AccountLinksPage> {
  const filter = await filterOf(deps, { accountId }, options);
  const { page, ...around } = await linksPage(deps, filter, { after, before, limit });
  return { links: await withClicks(deps, page), ...around };
}

function linksPage(
  { readStore }: StatusDeps,
  filter: CountQuery,
  request: PageRequest,
  sort: typeof NEWEST | typeof OLDEST = NEWEST,
): Promise<Page<LinkDocument>> {
  return readPage<LinkDocument>(readStore, links.collection.name, { ...filter, sort }, request);
}

/** How many links fit. @throws too_many_links */
export async function countAccountLinks(
  deps: StatusDeps,
  accountId: string,
  options: AccountLinksFilter,
): Promise<number> {
  const { q, status, ...others } = options;
  // Counting the documents of 100,000 links takes some 60 ms.
  const isWhole =
    !q &&
    Object.values(others).every((value) => value === undefined) &&
    (status === undefined || status === "deleted");
  if (isWhole) return (await countLinks(deps, accountId))[status === "deleted" ? "deleted" : "links"];
  const filter = await filterOf(deps, { accountId }, options);
  return await deps.readStore.count(links.collection.name, filter);
}

/** Keys of the links that fit, newest first, at most `limit`. `next`: cursor of the others. @throws as accountLinks */
export async function accountLinkKeys(
  deps: StatusDeps,
  accountId: string,
  { after, limit, ...options }: AccountLinksFilter & Omit<PageRequest, "before">,
): Promise<{ keys: string[]; next: string | null }> {
  const filter = await filterOf(deps, { accountId }, options);
  const { page, next } = await linksPage(deps, filter, { after, limit });
  return { keys: page.map(({ _id }) => _id), next };
}

/** All that fit, newest first; undefined where they are more than `most`. @throws too_many_links */
export async function fewLinks(
  deps: StatusDeps,
  accountId: string,
  options: AccountLinksFilter,
  most: number,
): Promise<LinkDocument[] | undefined> {
  const filter = await filterOf(deps, { accountId }, options);
  const query = { ...filter, sort: NEWEST, limit: most + 1 };
  const few = await deps.readStore.find<LinkDocument>(links.collection.name, query);
  return few.length > most ? undefined : few;
}

/** Finds those of some links that fit, by their ids. @throws too_many_links */
export async function fittingLinks(
  deps: StatusDeps,
  accountId: string,
  options: AccountLinksFilter,
): Promise<(ids: readonly string[]) => Promise<Map<string, LinkDocument>>> {
  const filter = await filterOf(deps, { accountId }, options);
  const fitting = filter.in?._id && new Set(filter.in._id);
  return async (ids) => {
    const _id = fitting ? ids.filter((id) => fitting.has(id)) : ids;
    if (_id.length === 0) return new Map();
    const query = { ...filter, in: { ...filter.in, _id }, limit: _id.length };
    const documents = await deps.readStore.find<LinkDocument>(links.collection.name, query);
    return new Map(documents.map((link) => [link._id, link]));
  };
}

/** All that fit, newest first, `limit` at a time; of these keys, deleted or not, where they are given. @throws too_many_links */
export async function* accountLinkPages(
  deps: StatusDeps,
  accountId: string,
  { keys, limit, ...options }: AccountLinksFilter & { keys?: readonly string[]; limit: number },
): AsyncGenerator<LinkDocument[]> {
  const query: CountQuery = keys
    ? { where: { accountId }, in: { _id: keys } }
    : await filterOf(deps, { accountId }, options);
  yield* documentPages<LinkDocument>(deps.readStore, links.collection.name, {
    ...query,
    sort: NEWEST,
    limit,
  });
}

/** From the account-links projection, without counting documents. */
export async function countLinks(
  { readStore }: Pick<StatusDeps, "readStore">,
  accountId: string,
): Promise<{ links: number; deleted: number }> {
  const counted = await readStore.get<AccountLinksDocument>(linksOfAccounts.collection.name, accountId);
  return { links: counted?.links ?? 0, deleted: counted?.deleted ?? 0 };
}

/** @throws too_many_links */
async function filterOf(
  deps: StatusDeps,
  { accountId, keyId }: { accountId: string; keyId?: string },
  { q, status, domainId, from, to, tag, externalId, madeBy }: LinkFilter,
): Promise<CountQuery> {
  // The account too only where its index is of use: that of the key begins with the key.
  const isOfAccount = keyId === undefined || tag !== undefined || externalId !== undefined;
  const isMaker = madeBy === "api" || madeBy === "portal";
  const where = {
    ...(isOfAccount && { accountId }),
    ...(keyId !== undefined && { makerId: keyId }),
    deleted: false,
    ...(domainId !== undefined && { domainId }),
    ...(externalId !== undefined && { externalId }),
    ...(isMaker && { via: madeBy === "api" ? "api" : "web" }),
  };
  // Stored times are compared as text.
  const utc = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString());
  const isRange = from !== undefined || to !== undefined;
  const query = {
    where,
    ...(isRange && { range: { field: "createdAt", from: utc(from), to: utc(to) } }),
    ...(q && { contains: { field: "searchText", texts: searchWords(q) } }),
    ...(tag !== undefined && { has: { field: "tags", element: tag } }),
    // Beside the caller's own key, of which another one's links are none.
    ...(madeBy !== undefined && !isMaker && { in: { makerId: [madeBy] } }),
  };
  return status === undefined ? query : await withStatus(deps, accountId, query, status);
}

/** Listed as they are now, with their clicks. */
export async function withClicks(deps: StatusDeps, page: readonly LinkDocument[]): Promise<ListedLink[]> {
  const ids = page.map(({ _id }) => _id);
  const fields = ["people", "lastDays", "date"] as const;
  const counted = await documentsById<LinkTotalsDocument>(deps.readStore, linkTotals.name, ids, fields);
  const statuses = await statusesOf(deps, page);
  return page.map((link, n) => {
    const { people = 0, lastDays = [], date = "" } = counted.get(link._id) ?? {};
    return { ...link, status: statuses[n] as LinkStatus, clicks: people, lastDays, date };
  });
}
