// The portal's list of an account's most clicked links.
import { EXACT_RANKS } from "../../projections/definitions/click-rank.ts";
import { type LinkClicksDocument, linkClicks } from "../../projections/definitions/link-clicks.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import { documentPages } from "../../stores/read-store/document-pages.ts";
import type { FindQuery, ReadStore } from "../../stores/read-store/port.ts";
import { type AccountLinksPage, type ListedLink, listedLink } from "./list-links.ts";

/** A page of the most clicked links reads those before it, too. */
const MOST_RANKED = 500;

/** Most clicked by people first, at most 500; without links that people have not clicked, and deleted ones. */
export async function topLinks(
  { readStore }: { readStore: ReadStore },
  accountId: string,
  { limit, page = 1 }: { limit: number; page?: number },
): Promise<AccountLinksPage> {
  const top: ListedLink[] = [];
  const end = Math.min(page * limit, MOST_RANKED);
  // Deleted links keep their clicks and are skipped, so filling a page may take several reads.
  for await (const ranked of mostClicked(readStore, accountId, end + 1)) {
    const ids = ranked.map(({ _id }) => _id);
    const found = await readStore.getMany<LinkDocument>(links.collection.name, ids);
    const byId = new Map(found.map((link) => [link._id, link]));
    for (const clicks of ranked) {
      const link = byId.get(clicks._id);
      if (link && !link.deleted && clicks.people > 0) top.push(listedLink(link, clicks));
    }
    if (top.length > end || ranked.at(-1)?.people === 0) break;
  }
  const shown = top.slice((page - 1) * limit, end);
  return { links: shown, page, pages: top.length > end && end < MOST_RANKED ? page + 1 : page };
}

/**
 * By clicks, then by id, both descending. The index has ranks only: links of one rank are sorted by a search of their
 * own, links of different ranks are in order already.
 */
async function* mostClicked(
  readStore: ReadStore,
  accountId: string,
  limit: number,
): AsyncGenerator<LinkClicksDocument[]> {
  const { name } = linkClicks.collection;
  for (let below: Pick<FindQuery, "after"> = {}; ; ) {
    const sort = { field: "rank", direction: "desc" } as const;
    const found = await readStore.find<LinkClicksDocument>(name, {
      where: { accountId },
      sort,
      ...below,
      limit,
    });
    const rank = found.at(-1)?.rank;
    if (rank === undefined) return;
    // The search may have ended within its lowest rank.
    yield found.filter((one) => one.rank > rank).sort(byClicks);
    // Links of an exact rank have equal clicks, so they are in the order of the index.
    const field = rank < EXACT_RANKS ? "_id" : "people";
    const ofRank = { where: { accountId, rank }, sort: { field, direction: "desc" }, limit } as const;
    yield* documentPages<LinkClicksDocument>(readStore, name, ofRank);
    below = { after: { value: rank, id: "" } };
  }
}

function byClicks(a: LinkClicksDocument, b: LinkClicksDocument): number {
  return b.people - a.people || (a._id < b._id ? 1 : -1);
}
