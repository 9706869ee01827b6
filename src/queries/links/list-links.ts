// GET /api/v1/links: the links created with the caller's key, newest first, with paging.
import { type LinkObject, linkObject } from "../../commands/links/link-object.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import type { CountQuery, ReadStore } from "../../read-store/port.ts";
import { behindCursor, pageOf } from "../cursor.ts";

export type ListLinksDeps = { readStore: ReadStore; baseUrl: string };

export type ListLinksOptions = {
  limit: number;
  cursor?: string | undefined;
  /** Case-insensitive part of the slug, the long URL or the short URL. */
  q?: string | undefined;
  domain_id?: string | undefined;
  /** Created at or after, in milliseconds. */
  from?: number | undefined;
  /** Created before, in milliseconds. */
  to?: number | undefined;
};

/** `total` counts all links that match, on every page. `next_cursor` is null on the last page. */
export type LinkPage = { links: LinkObject[]; total: number; next_cursor: string | null };

/**
 * Without deleted links.
 * @throws invalid_cursor
 */
export async function listLinks(
  { readStore, baseUrl }: ListLinksDeps,
  caller: { keyId: string },
  options: ListLinksOptions,
): Promise<LinkPage> {
  const { cursor, limit } = options;
  const filter = filterOf(caller.keyId, options);
  const sort = { field: "createdAt", direction: "desc" } as const;
  const query = { ...filter, sort, ...behindCursor(cursor), limit: limit + 1 };
  const found = await readStore.find<LinkDocument>(links.collection.name, query);
  const { page, next } = pageOf(found, limit, ({ createdAt, _id }) => ({ value: createdAt, id: _id }));
  return {
    links: page.map((link) => linkObject(link, baseUrl)),
    total: await readStore.count(links.collection.name, filter),
    next_cursor: next,
  };
}

function filterOf(keyId: string, options: ListLinksOptions) {
  const { domain_id: domainId, q, from, to } = options;
  const filter: CountQuery = {
    where: { keyId, deleted: false, ...(domainId === undefined ? {} : { domainId }) },
  };
  if (from !== undefined || to !== undefined)
    filter.range = { field: "createdAt", from: utc(from), to: utc(to) };
  if (q) filter.contains = { fields: ["longUrl", "shortUrl"], text: q };
  return filter;
}

/** Converts to the format of stored times, which are compared as text. */
function utc(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}
