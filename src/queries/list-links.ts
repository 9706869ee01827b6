// GET /api/v1/links: the links made with the caller's key, newest first, page by page (DESIGN §7).
import type { Caller } from "../commands/caller.ts";
import { type LinkDocument, links } from "../projections/links.ts";
import type { FindQuery, ReadStore } from "../read-store/port.ts";
import { InvalidCursor } from "./errors.ts";
import { type LinkObject, linkObject } from "./link-object.ts";

export type ListLinksDeps = { readStore: ReadStore; baseUrl: string };

export type ListLinksOptions = {
  /** 1 to 100; default 50. */
  limit?: number | undefined;
  cursor?: string | undefined;
  /** Case-insensitive part of the slug, the long URL or the short URL. */
  q?: string | undefined;
  domain_id?: string | undefined;
  /** Created at or after, ISO 8601. */
  from?: string | undefined;
  /** Created before, ISO 8601. */
  to?: string | undefined;
};

/** `total` counts all links that match, on every page. `next_cursor` is null on the last page. */
export type LinkPage = { links: LinkObject[]; total: number; next_cursor: string | null };

const DEFAULT_LIMIT = 50;
const MOST_LINKS = 100;

/**
 * Deleted links are left out. A caller without a key (the portal) sees the links of the account.
 * @throws InvalidCursor
 */
export async function listLinks(
  { readStore, baseUrl }: ListLinksDeps,
  caller: Pick<Caller, "accountId" | "keyId">,
  options: ListLinksOptions,
): Promise<LinkPage> {
  const limit = Math.min(MOST_LINKS, Math.max(1, options.limit ?? DEFAULT_LIMIT));
  const filter = filterOf(caller, options);
  const query: FindQuery = { ...filter, sort: { field: "createdAt", direction: "desc" }, limit: limit + 1 };
  if (options.cursor !== undefined) query.after = parseCursor(options.cursor);
  const found = await readStore.find<LinkDocument>(links.collection.name, query);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    links: page.map((link) => linkObject(link, baseUrl)),
    total: await readStore.count(links.collection.name, filter),
    next_cursor: found.length > limit && last ? cursorAfter(last) : null,
  };
}

function filterOf(caller: Pick<Caller, "accountId" | "keyId">, options: ListLinksOptions) {
  const { domain_id: domainId, q, from, to } = options;
  const owner = caller.keyId === undefined ? { accountId: caller.accountId } : { keyId: caller.keyId };
  const filter: Omit<FindQuery, "limit" | "sort" | "after"> = {
    where: { ...owner, deleted: false, ...(domainId === undefined ? {} : { domainId }) },
  };
  if (from !== undefined || to !== undefined)
    filter.range = { field: "createdAt", from: utc(from), to: utc(to) };
  if (q) filter.contains = { fields: ["slug", "longUrl", "shortUrl"], text: q };
  return filter;
}

/** Stored times are compared as text, so that a bound must look like them. Callers have checked that it is a time. */
function utc(time: string | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}

function cursorAfter(link: LinkDocument): string {
  return Buffer.from(JSON.stringify([link.createdAt, link._id])).toString("base64url");
}

function parseCursor(cursor: string): NonNullable<FindQuery["after"]> {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (Array.isArray(parsed) && parsed.length === 2) {
      const [value, id] = parsed as unknown[];
      if (typeof value === "string" && typeof id === "string") return { value, id };
    }
  } catch {
    // Not our JSON: the same mistake as a wrong shape.
  }
  throw new InvalidCursor();
}
