// The portal's list of an account's links: newest or most clicked first, with search, filters and paging.
import {
  type AccountLinksDocument,
  accountLinks as linksOfAccounts,
} from "../../projections/definitions/account-links.ts";
import { clickRank, EXACT_RANKS } from "../../projections/definitions/click-rank.ts";
import { type LinkClicksDocument, linkClicks } from "../../projections/definitions/link-clicks.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import type { FindQuery, ReadStore } from "../../read-store/port.ts";
import { behindCursor, cursorOf, pageOf } from "../cursor.ts";

type Deps = { readStore: ReadStore };

/** `existing`: not deleted. */
export const LINK_FILTERS = ["existing", "live", "disabled", "deleted"] as const;
export type LinkFilter = (typeof LINK_FILTERS)[number];

export type AccountLinksOptions = {
  /** Case-insensitive part of the short or the long URL. */
  q?: string | undefined;
  show?: LinkFilter | undefined;
  /** A domain's id; null for the default domain. */
  domainId?: string | null | undefined;
  cursor?: string | undefined;
  limit: number;
};

/** `clicks`: hits of all kinds. */
export type ListedLink = LinkDocument & { clicks: number };

/** `next` is null on the last page. */
export type AccountLinksPage = { links: ListedLink[]; next: string | null };

/** Newest first. @throws InvalidCursor */
export async function accountLinks(
  deps: Deps,
  accountId: string,
  options: AccountLinksOptions,
): Promise<AccountLinksPage> {
  const { q, show = "existing", domainId, cursor, limit } = options;
  const query: FindQuery = {
    where: {
      accountId,
      deleted: show === "deleted",
      ...(show === "live" || show === "disabled" ? { status: show } : {}),
      ...(domainId === undefined ? {} : { domainId }),
    },
    ...(q ? { contains: { fields: ["shortUrl", "longUrl"], text: q } } : {}),
    sort: { field: "createdAt", direction: "desc" },
    ...behindCursor(cursor),
    limit: limit + 1,
  };
  const found = await deps.readStore.find<LinkDocument>(links.collection.name, query);
  const { page, next } = pageOf(found, limit, ({ createdAt, _id }) => ({ value: createdAt, id: _id }));
  return { links: await withClicks(deps, page), next };
}

/** Most clicked first; without links that have no hits and deleted ones. @throws InvalidCursor */
export async function topLinks(
  { readStore }: Deps,
  accountId: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<AccountLinksPage> {
  const top: ListedLink[] = [];
  let { after } = behindCursor(cursor, "number");
  // Deleted links keep their clicks and are skipped, so filling a page may take several reads.
  for (;;) {
    const ranked = await mostClicked(readStore, accountId, limit + 1, after);
    const ids = ranked.map(({ _id }) => _id);
    const found = await readStore.getMany<LinkDocument>(links.collection.name, ids);
    const byId = new Map(found.map((link) => [link._id, link]));
    for (const { _id: id, totalClicks: clicks } of ranked) {
      const link = byId.get(id);
      // All clicks of a link may be withdrawn.
      if (link && !link.deleted && clicks > 0) {
        if (top.length === limit) return { links: top, next: after ? cursorOf(after) : null };
        top.push({ ...link, clicks });
      }
      after = { value: clicks, id };
    }
    if (ranked.length <= limit) return { links: top, next: null };
  }
}

/**
 * The next documents by clicks, then by id, both descending. The index has ranks only: links of one rank are sorted by a
 * search of their own, links of different ranks are in order already.
 */
async function mostClicked(
  readStore: ReadStore,
  accountId: string,
  limit: number,
  after: FindQuery["after"],
): Promise<LinkClicksDocument[]> {
  const find = (query: Omit<FindQuery, "limit">, most: number) =>
    readStore.find<LinkClicksDocument>(linkClicks.collection.name, { ...query, limit: most });
  const ofRank = (rank: number, most: number, from?: FindQuery["after"]) => {
    // Links of an exact rank have equal clicks, so they are in the order of the index.
    const sort = { field: rank < EXACT_RANKS ? "_id" : "totalClicks", direction: "desc" } as const;
    return find({ where: { accountId, rank }, sort, ...(from ? { after: from } : {}) }, most);
  };
  const rank = after && clickRank(Number(after.value));
  const found = rank === undefined ? [] : await ofRank(rank, limit, after);
  if (found.length === limit) return found;
  const below = rank === undefined ? {} : { after: { value: rank, id: "" } };
  const sort = { field: "rank", direction: "desc" } as const;
  const next = await find({ where: { accountId }, sort, ...below }, limit - found.length);
  const lowest = next.at(-1)?.rank;
  if (lowest === undefined) return found;
  // The search may have ended within its lowest rank.
  found.push(...next.filter(({ rank }) => rank > lowest).sort(byClicks));
  return [...found, ...(await ofRank(lowest, limit - found.length))];
}

function byClicks(a: LinkClicksDocument, b: LinkClicksDocument): number {
  return b.totalClicks - a.totalClicks || (a._id < b._id ? 1 : -1);
}

/** From the account-links projection, without counting documents. */
export async function countLinks(
  { readStore }: Deps,
  accountId: string,
): Promise<{ links: number; deleted: number }> {
  const counted = await readStore.get<AccountLinksDocument>(linksOfAccounts.collection.name, accountId);
  return { links: counted?.links ?? 0, deleted: counted?.deleted ?? 0 };
}

async function withClicks({ readStore }: Deps, page: readonly LinkDocument[]): Promise<ListedLink[]> {
  const ids = page.map(({ _id }) => _id);
  const found = await readStore.getMany<LinkClicksDocument>(linkClicks.collection.name, ids, ["totalClicks"]);
  const clicks = new Map(found.map(({ _id, totalClicks }) => [_id, totalClicks]));
  return page.map((link) => ({ ...link, clicks: clicks.get(link._id) ?? 0 }));
}
