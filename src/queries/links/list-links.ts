// Lists of links, newest first, with search and filters: of a key for the API, of an account for the portal.
import { type LinkDetailsObject, linkDetailsObject } from "../../commands/links/link-object.ts";
import type { LinkStatus } from "../../events/links/link-status.ts";
import { searchWords } from "../../events/links/search-text.ts";
import {
  type AccountLinksDocument,
  accountLinks as linksOfAccounts,
} from "../../projections/definitions/account-links.ts";
import { type LinkClicksDocument, linkClicks } from "../../projections/definitions/link-clicks.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import type { CountQuery } from "../../stores/read-store/port.ts";
import { behindCursor, pageOf } from "../cursor.ts";
import { type StatusDeps, statusesOf, withStatus } from "./link-statuses.ts";

export type ListLinksDeps = StatusDeps & { baseUrl: string };

export type LinkFilter = {
  /** Words, each a part of the URLs, title, tags, external id or comments, whatever its case and accents. */
  q?: string | undefined;
  tag?: string | undefined;
  externalId?: string | undefined;
  /** By default all that are not deleted. */
  status?: LinkStatus | undefined;
  /** A domain's id; null for the default domain. */
  domainId?: string | null | undefined;
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
  domain_id?: string | undefined;
  external_id?: string | undefined;
  sort?: (typeof LINK_ORDERS)[number] | undefined;
  scope?: (typeof LINK_SCOPES)[number] | undefined;
};

export type LinkPage = {
  links: LinkDetailsObject[];
  total: number;
  next_cursor: string | null;
};

/** `page`: from 1; beyond the last one it is the last one. */
export type AccountLinksOptions = Pick<LinkFilter, "q" | "tag" | "status" | "domainId"> & {
  page?: number;
  limit: number;
};

/** `clicks`: of people; `lastDays`: those of the day `date` and of the days before it (last-days.ts). */
export type ListedLink = LinkDocument & {
  status: LinkStatus;
  clicks: number;
  lastDays: number[];
  date: string;
};

/** `pages`: how many there are, at least 1; those of the most clicked links are counted up to the next one only. */
export type AccountLinksPage = { links: ListedLink[]; page: number; pages: number };

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
  const { readStore, baseUrl } = deps;
  const { cursor, limit, domain_id: domainId, external_id: externalId, ...given } = options;
  const { scope = "key", sort: order = "-created_at", ...more } = given;
  const of = scope === "account" ? { accountId } : { keyId, accountId };
  const filter = await filterOf(deps, of, { ...more, ...{ domainId, externalId } });
  const sort = order === "-created_at" ? NEWEST : OLDEST;
  const query = { ...filter, sort, ...behindCursor(cursor), limit: limit + 1 };
  const found = await readStore.find<LinkDocument>(links.collection.name, query);
  const { page, next } = pageOf(found, limit, ({ createdAt, _id }) => ({ value: createdAt, id: _id }));
  const statuses = await statusesOf(deps, page);
  return {
    links: page.map((link, n) =>
      linkDetailsObject(link, { ...link, status: statuses[n] as LinkStatus }, baseUrl),
    ),
    total: await readStore.count(links.collection.name, filter),
    next_cursor: next,
  };
}

/** An account's links by the number of the page, with their clicks. */
export async function accountLinks(
  deps: StatusDeps,
  accountId: string,
  { page: asked = 1, limit, ...options }: AccountLinksOptions,
): Promise<AccountLinksPage> {
  const { name } = links.collection;
  const filter = await filterOf(deps, { accountId }, options);
  const { q, tag, domainId, status } = options;
  // Counting the documents of 100,000 links takes some 60 ms, reading a page of them 1 ms.
  const isWhole =
    !q && tag === undefined && domainId === undefined && (status === undefined || status === "deleted");
  const total = isWhole
    ? (await countLinks(deps, accountId))[status === "deleted" ? "deleted" : "links"]
    : await deps.readStore.count(name, filter);
  const pages = Math.max(1, Math.ceil(total / limit));
  const page = Math.min(asked, pages);
  const query = { ...filter, sort: NEWEST, skip: (page - 1) * limit, limit };
  const found = await deps.readStore.find<LinkDocument>(name, query);
  return { links: await withClicks(deps, found), page, pages };
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
  { q, status, domainId, from, to, tag, externalId }: LinkFilter,
): Promise<CountQuery> {
  // The account too only where its index is of use: that of the key begins with the key.
  const isOfAccount = keyId === undefined || tag !== undefined || externalId !== undefined;
  const where = {
    ...(isOfAccount && { accountId }),
    ...(keyId !== undefined && { keyId }),
    deleted: false,
    ...(domainId !== undefined && { domainId }),
    ...(externalId !== undefined && { externalId }),
  };
  // Stored times are compared as text.
  const utc = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString());
  const isRange = from !== undefined || to !== undefined;
  const query = {
    where,
    ...(isRange && { range: { field: "createdAt", from: utc(from), to: utc(to) } }),
    ...(q && { contains: { field: "searchText", texts: searchWords(q) } }),
    ...(tag !== undefined && { has: { field: "tags", element: tag } }),
  };
  return status === undefined ? query : await withStatus(deps, accountId, query, status);
}

/** Listed as they are now, with their clicks. */
export async function withClicks(deps: StatusDeps, page: readonly LinkDocument[]): Promise<ListedLink[]> {
  const ids = page.map(({ _id }) => _id);
  const fields = ["people", "lastDays", "date"] as const satisfies (keyof LinkClicksDocument)[];
  const counted = await deps.readStore.getMany<LinkClicksDocument>(linkClicks.collection.name, ids, fields);
  const byId = new Map(counted.map((clicks) => [clicks._id, clicks]));
  const statuses = await statusesOf(deps, page);
  return page.map((link, n) => {
    const { people = 0, lastDays = [], date = "" } = byId.get(link._id) ?? {};
    return { ...link, status: statuses[n] as LinkStatus, clicks: people, lastDays, date };
  });
}
