// The portal's list of an account's links: newest or most clicked first, with search, filters and paging.
import {
  type AccountLinksDocument,
  accountLinks as linksOfAccounts,
} from "../../projections/definitions/account-links.ts";
import { clickRank, EXACT_RANKS } from "../../projections/definitions/click-rank.ts";
import { type LinkClicksDocument, linkClicks } from "../../projections/definitions/link-clicks.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import type { CountQuery, FindQuery, ReadStore } from "../../read-store/port.ts";

type Deps = { readStore: ReadStore };

/** A page of the most clicked links reads those before it, too. */
const MOST_RANKED = 500;

/** `existing`: not deleted. */
export const LINK_FILTERS = ["existing", "live", "disabled", "deleted"] as const;
export type LinkFilter = (typeof LINK_FILTERS)[number];

export type AccountLinksOptions = {
  /** Case-insensitive part of the short or the long URL. */
  q?: string | undefined;
  show?: LinkFilter | undefined;
  /** A domain's id; null for the default domain. */
  domainId?: string | null | undefined;
  /** From 1; beyond the last one it is the last one. */
  page?: number | undefined;
  limit: number;
};

/** `clicks`: of people; `lastDays`: those of the day `date` and of the days before it (last-days.ts). */
export type ListedLink = LinkDocument & { clicks: number; lastDays: number[]; date: string };

/** `pages`: how many there are, at least 1; those of the most clicked links are counted up to the next one only. */
export type AccountLinksPage = { links: ListedLink[]; page: number; pages: number };

/** Newest first. */
export async function accountLinks(
  deps: Deps,
  accountId: string,
  options: AccountLinksOptions,
): Promise<AccountLinksPage> {
  const { q, show = "existing", domainId, limit } = options;
  const filter: CountQuery = {
    where: {
      accountId,
      deleted: show === "deleted",
      ...(show === "live" || show === "disabled" ? { status: show } : {}),
      ...(domainId === undefined ? {} : { domainId }),
    },
    ...(q ? { contains: { fields: ["shortUrl", "longUrl"], text: q } } : {}),
  };
  const at = (page: number) =>
    deps.readStore.find<LinkDocument>(links.collection.name, {
      ...filter,
      sort: { field: "createdAt", direction: "desc" },
      skip: (page - 1) * limit,
      limit: limit + 1,
    });
  let { page = 1 } = options;
  let found = await at(page);
  const isLast = found.length <= limit && (found.length > 0 || page === 1);
  const isWhole = !q && domainId === undefined && (show === "existing" || show === "deleted");
  // Counted only where it must be, as a search reads all of the account's links for it.
  const total = isLast
    ? (page - 1) * limit + found.length
    : isWhole
      ? (await countLinks(deps, accountId))[show === "deleted" ? "deleted" : "links"]
      : await deps.readStore.count(links.collection.name, filter);
  const pages = Math.max(1, Math.ceil(total / limit));
  if (page > pages) {
    page = pages;
    found = await at(page);
  }
  return { links: await withClicks(deps, found.slice(0, limit)), page, pages };
}

/** Most clicked by people first, at most 500; without links that people have not clicked, and deleted ones. */
export async function topLinks(
  { readStore }: Deps,
  accountId: string,
  { limit, page = 1 }: { limit: number; page?: number | undefined },
): Promise<AccountLinksPage> {
  const top: ListedLink[] = [];
  const end = Math.min(page * limit, MOST_RANKED);
  let after: FindQuery["after"];
  // Deleted links keep their clicks and are skipped, so filling a page may take several reads.
  for (let isMore = true; isMore && top.length <= end; ) {
    const wanted = end + 1 - top.length;
    const ranked = await mostClicked(readStore, accountId, wanted, after);
    const ids = ranked.map(({ _id }) => _id);
    const found = await readStore.getMany<LinkDocument>(links.collection.name, ids);
    const byId = new Map(found.map((link) => [link._id, link]));
    for (const clicks of ranked) {
      const link = byId.get(clicks._id);
      if (link && !link.deleted && clicks.people > 0) top.push(listed(link, clicks));
      after = { value: clicks.people, id: clicks._id };
    }
    isMore = ranked.length === wanted && ranked.at(-1)?.people !== 0;
  }
  const shown = top.slice((page - 1) * limit, end);
  return { links: shown, page, pages: top.length > end && end < MOST_RANKED ? page + 1 : page };
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
    const sort = { field: rank < EXACT_RANKS ? "_id" : "people", direction: "desc" } as const;
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
  return b.people - a.people || (a._id < b._id ? 1 : -1);
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
  const fields = ["people", "lastDays", "date"] as const satisfies (keyof LinkClicksDocument)[];
  const found = await readStore.getMany<LinkClicksDocument>(linkClicks.collection.name, ids, fields);
  const clicks = new Map(found.map((one) => [one._id, one]));
  return page.map((link) => listed(link, clicks.get(link._id)));
}

function listed(
  link: LinkDocument,
  clicks?: Pick<LinkClicksDocument, "people" | "lastDays" | "date">,
): ListedLink {
  return { ...link, clicks: clicks?.people ?? 0, lastDays: clicks?.lastDays ?? [], date: clicks?.date ?? "" };
}
