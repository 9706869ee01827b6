// Lists of links, newest first, with search and filters: of a key for the API, of an account for the portal.
import { type LinkDetailsObject, linkDetailsObject } from "../../commands/links/link-object.ts";
import {
  type AccountLinksDocument,
  accountLinks as linksOfAccounts,
} from "../../projections/definitions/account-links.ts";
import { type LinkClicksDocument, linkClicks } from "../../projections/definitions/link-clicks.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import type { CountQuery, ReadStore } from "../../stores/read-store/port.ts";
import { behindCursor, pageOf } from "../cursor.ts";

type Deps = { readStore: ReadStore };
export type ListLinksDeps = Deps & { baseUrl: string };

/** `existing`: not deleted. */
export const LINK_FILTERS = ["existing", "live", "disabled", "deleted"] as const;
export type LinkFilter = (typeof LINK_FILTERS)[number];

type Filter = {
  /** Case-insensitive part of the short or the long URL, or of the title. */
  q?: string | undefined;
  tag?: string | undefined;
  externalId?: string | undefined;
  show?: LinkFilter | undefined;
  /** A domain's id; null for the default domain. */
  domainId?: string | null | undefined;
  /** Created at or after, and before, in milliseconds. */
  from?: number | undefined;
  to?: number | undefined;
};

/** Those that GET /api/v1/links filters by, existing ones by default. */
export const LISTED_STATUSES = ["live", "disabled", "deleted"] as const satisfies readonly LinkFilter[];
export const LINK_ORDERS = ["-created_at", "created_at"] as const;
/** Links of the caller's key, or all of its account. */
export const LINK_SCOPES = ["key", "account"] as const;

export type ListLinksOptions = Pick<Filter, "q" | "from" | "to" | "tag"> & {
  limit: number;
  cursor?: string | undefined;
  domain_id?: string | undefined;
  external_id?: string | undefined;
  status?: (typeof LISTED_STATUSES)[number] | undefined;
  sort?: (typeof LINK_ORDERS)[number] | undefined;
  scope?: (typeof LINK_SCOPES)[number] | undefined;
};

export type LinkPage = {
  links: LinkDetailsObject[];
  total: number;
  next_cursor: string | null;
};

/** `page`: from 1; beyond the last one it is the last one. */
export type AccountLinksOptions = Pick<Filter, "q" | "tag" | "show" | "domainId"> & {
  page?: number;
  limit: number;
};

/** `clicks`: of people; `lastDays`: those of the day `date` and of the days before it (last-days.ts). */
export type ListedLink = LinkDocument & { clicks: number; lastDays: number[]; date: string };

/** `pages`: how many there are, at least 1; those of the most clicked links are counted up to the next one only. */
export type AccountLinksPage = { links: ListedLink[]; page: number; pages: number };

const NEWEST = { field: "createdAt", direction: "desc" } as const;
const OLDEST = { field: "createdAt", direction: "asc" } as const;

/**
 * GET /api/v1/links: the links created with the caller's key, or with `scope` all of the account. `total` counts all links that match, on every page; `next_cursor` is null on the last one.
 * @throws invalid_cursor
 */
export async function listLinks(
  { readStore, baseUrl }: ListLinksDeps,
  { keyId, accountId }: { keyId: string; accountId: string },
  options: ListLinksOptions,
): Promise<LinkPage> {
  const { cursor, limit, domain_id: domainId, external_id: externalId, status: show, ...given } = options;
  const { scope = "key", sort: order = "-created_at", ...more } = given;
  const filter = filterOf(scope === "account" ? { accountId } : { keyId, accountId }, {
    ...more,
    ...{ domainId, externalId, show },
  });
  const sort = order === "-created_at" ? NEWEST : OLDEST;
  const query = { ...filter, sort, ...behindCursor(cursor), limit: limit + 1 };
  const found = await readStore.find<LinkDocument>(links.collection.name, query);
  const { page, next } = pageOf(found, limit, ({ createdAt, _id }) => ({ value: createdAt, id: _id }));
  return {
    links: page.map((link) => linkDetailsObject(link, link, baseUrl)),
    total: await readStore.count(links.collection.name, filter),
    next_cursor: next,
  };
}

/** An account's links by the number of the page, with their clicks. */
export async function accountLinks(
  deps: Deps,
  accountId: string,
  { page: asked = 1, limit, ...options }: AccountLinksOptions,
): Promise<AccountLinksPage> {
  const { name } = links.collection;
  const filter = filterOf({ accountId }, options);
  const { q, tag, domainId, show = "existing" } = options;
  // Counting the documents of 100,000 links takes some 60 ms, reading a page of them 1 ms.
  const isWhole =
    !q && tag === undefined && domainId === undefined && (show === "existing" || show === "deleted");
  const total = isWhole
    ? (await countLinks(deps, accountId))[show === "deleted" ? "deleted" : "links"]
    : await deps.readStore.count(name, filter);
  const pages = Math.max(1, Math.ceil(total / limit));
  const page = Math.min(asked, pages);
  const query = { ...filter, sort: NEWEST, skip: (page - 1) * limit, limit };
  const found = await deps.readStore.find<LinkDocument>(name, query);
  return { links: await withClicks(deps, found), page, pages };
}

/** From the account-links projection, without counting documents. */
export async function countLinks(
  { readStore }: Deps,
  accountId: string,
): Promise<{ links: number; deleted: number }> {
  const counted = await readStore.get<AccountLinksDocument>(linksOfAccounts.collection.name, accountId);
  return { links: counted?.links ?? 0, deleted: counted?.deleted ?? 0 };
}

function filterOf(
  { accountId, keyId }: { accountId: string; keyId?: string },
  { q, show = "existing", domainId, from, to, tag, externalId }: Filter,
): CountQuery {
  // The account too only where its index is of use: that of the key begins with the key.
  const isOfAccount = keyId === undefined || tag !== undefined || externalId !== undefined;
  const where = {
    ...(isOfAccount && { accountId }),
    ...(keyId !== undefined && { keyId }),
    deleted: show === "deleted",
    ...((show === "live" || show === "disabled") && { status: show }),
    ...(domainId !== undefined && { domainId }),
    ...(externalId !== undefined && { externalId }),
  };
  // Stored times are compared as text.
  const utc = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString());
  const isRange = from !== undefined || to !== undefined;
  return {
    where,
    ...(isRange && { range: { field: "createdAt", from: utc(from), to: utc(to) } }),
    ...(q && { contains: { fields: ["longUrl", "shortUrl", "title"], text: q } }),
    ...(tag !== undefined && { has: { field: "tags", element: tag } }),
  };
}

async function withClicks({ readStore }: Deps, page: readonly LinkDocument[]): Promise<ListedLink[]> {
  const ids = page.map(({ _id }) => _id);
  const fields = ["people", "lastDays", "date"] as const satisfies (keyof LinkClicksDocument)[];
  const found = await readStore.getMany<LinkClicksDocument>(linkClicks.collection.name, ids, fields);
  const clicks = new Map(found.map((one) => [one._id, one]));
  return page.map((link) => listedLink(link, clicks.get(link._id)));
}

export function listedLink(
  link: LinkDocument,
  clicks?: Pick<LinkClicksDocument, "people" | "lastDays" | "date">,
): ListedLink {
  return { ...link, clicks: clicks?.people ?? 0, lastDays: clicks?.lastDays ?? [], date: clicks?.date ?? "" };
}
