// GET /api/v1/links: the links created with the caller's key, newest first, with paging.
import { type LinkObject, linkObject } from "../../commands/links/link-object.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import type { FindQuery, ReadStore } from "../../read-store/port.ts";
import { cursorOf, placeOf } from "../cursor.ts";

export type ListLinksDeps = { readStore: ReadStore; baseUrl: string };

export type ListLinksOptions = {
  /** 1 to 100; default 50. */
  limit?: number | undefined;
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

const DEFAULT_LIMIT = 50;
const MOST_LINKS = 100;

/**
 * Without deleted links.
 * @throws InvalidCursor
 */
export async function listLinks(
  { readStore, baseUrl }: ListLinksDeps,
  caller: { keyId: string },
  options: ListLinksOptions,
): Promise<LinkPage> {
  const limit = Math.min(MOST_LINKS, Math.max(1, options.limit ?? DEFAULT_LIMIT));
  const filter = filterOf(caller.keyId, options);
  const query: FindQuery = { ...filter, sort: { field: "createdAt", direction: "desc" }, limit: limit + 1 };
  if (options.cursor !== undefined) query.after = placeOf(options.cursor, "string");
  const found = await readStore.find<LinkDocument>(links.collection.name, query);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    links: page.map((link) => linkObject(link, baseUrl)),
    total: await readStore.count(links.collection.name, filter),
    next_cursor: found.length > limit && last ? cursorOf({ value: last.createdAt, id: last._id }) : null,
  };
}

function filterOf(keyId: string, options: ListLinksOptions) {
  const { domain_id: domainId, q, from, to } = options;
  const filter: Omit<FindQuery, "limit" | "sort" | "after"> = {
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
