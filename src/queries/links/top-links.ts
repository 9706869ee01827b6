// The portal's list of an account's most clicked links.
import { type LinkTotalsDocument, linkTotals } from "../../projections/definitions/link-totals.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { documentPages, documentsById } from "../../stores/read-store/document-pages.ts";
import { behindCursor, type PageRequest, pageOf } from "../cursor.ts";
import type { StatusDeps } from "./link-statuses.ts";
import {
  type AccountLinksFilter,
  type AccountLinksPage,
  fewLinks,
  fittingLinks,
  withClicks,
} from "./list-links.ts";

type Ranked = { link: Pick<LinkDocument, "_id">; people: number };
type ClickedLink = { link: LinkDocument; people: number };

/** Links that are put in order here: of a filter that leaves no more, looking for them among the most clicked takes longer. */
const FEW = 1_000;
/** Links that are looked at together, where a filter may leave few of them. */
const LOOKED_AT = 500;

/**
 * Of those that fit, the most clicked by people first; without links that people have not clicked.
 * @throws invalid_cursor, too_many_links
 */
export async function topLinks(
  deps: StatusDeps,
  accountId: string,
  { after, before, limit, ...filter }: AccountLinksFilter & PageRequest,
): Promise<AccountLinksPage> {
  const place = { after, before, limit };
  const isFiltered = Object.values(filter).some((value) => value !== undefined && value !== "");
  const few = isFiltered ? await fewLinks(deps, accountId, filter, FEW) : undefined;
  const clickedLinks = few
    ? await clickedOf(deps, few, place)
    : await firstClicked(deps, accountId, filter, place);
  const { page, ...around } = pageOf(clickedLinks, place, ({ link, people }) => ({
    value: people,
    id: link._id,
  }));
  const shown = page.map(({ link }) => link);
  return { links: await withClicks(deps, shown), ...around };
}

/** Those of a few links that are in the place, and one more, in its order. */
async function clickedOf(
  { readStore }: StatusDeps,
  few: readonly LinkDocument[],
  { after, before, limit }: PageRequest,
): Promise<ClickedLink[]> {
  const ids = few.map(({ _id }) => _id);
  const totals = await documentsById<LinkTotalsDocument>(readStore, linkTotals.name, ids, ["people"]);
  const { after: edge } = behindCursor(before ?? after, "number");
  const last = edge && { people: Number(edge.value), link: { _id: edge.id } };
  const direction = before === undefined ? -1 : 1;
  const order = (a: Ranked, b: Ranked) =>
    direction * (a.people - b.people || Number(a.link._id > b.link._id) - Number(a.link._id < b.link._id));
  return few
    .map((link) => ({ link, people: totals.get(link._id)?.people ?? 0 }))
    .filter((clicked) => clicked.people > 0 && (!last || order(clicked, last) > 0))
    .sort(order)
    .slice(0, limit + 1);
}

/** As clickedOf, of the many of an account: those that don't fit are skipped. */
async function firstClicked(
  deps: StatusDeps,
  accountId: string,
  filter: AccountLinksFilter,
  { after, before, limit }: PageRequest,
): Promise<ClickedLink[]> {
  const { readStore } = deps;
  const fitting = await fittingLinks(deps, accountId, filter);
  const clickedLinks: ClickedLink[] = [];
  const clickedPages = documentPages<LinkTotalsDocument>(readStore, linkTotals.name, {
    where: { accountId },
    sort: { field: "people", direction: before === undefined ? "desc" : "asc" },
    ...behindCursor(before ?? after, "number"),
    limit: Object.values(filter).some(Boolean) ? LOOKED_AT : limit + 1,
  });
  // Links that don't fit, such as deleted ones, are skipped, so filling a page may take several reads.
  for await (const clicked of clickedPages) {
    const byId = await fitting(clicked.map(({ _id }) => _id));
    for (const { _id, people } of clicked) {
      const link = byId.get(_id);
      if (link && people > 0) clickedLinks.push({ link, people });
    }
    if (clickedLinks.length > limit || (before === undefined && clicked.at(-1)?.people === 0)) break;
  }
  return clickedLinks;
}
