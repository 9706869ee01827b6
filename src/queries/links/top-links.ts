// The portal's list of an account's most clicked links.
import { type LinkTotalsDocument, linkTotals } from "../../projections/definitions/link-totals.ts";
import type { LinkDocument } from "../../projections/definitions/links.ts";
import { documentPages } from "../../stores/read-store/document-pages.ts";
import { behindCursor } from "../cursor.ts";
import type { StatusDeps } from "./link-statuses.ts";
import {
  type AccountLinksFilter,
  type AccountLinksPage,
  fittingLinks,
  type PagePlace,
  pageBetween,
  withClicks,
} from "./list-links.ts";

type ClickedLink = { link: LinkDocument; people: number };

/** Links that are looked at together, where a filter may leave few of them. */
const LOOKED_AT = 500;

/**
 * Of those that fit, the most clicked by people first; without links that people have not clicked.
 * @throws invalid_cursor, too_many_links
 */
export async function topLinks(
  deps: StatusDeps,
  accountId: string,
  { after, before, limit, ...filter }: AccountLinksFilter & PagePlace,
): Promise<AccountLinksPage> {
  const { readStore } = deps;
  const place = { after, before, limit };
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
  const { page, ...around } = pageBetween(clickedLinks, place, ({ link, people }) => ({
    value: people,
    id: link._id,
  }));
  const shown = page.map(({ link }) => link);
  return { links: await withClicks(deps, shown), ...around };
}
