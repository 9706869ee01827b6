// The portal's list of an account's most clicked links.
import { type LinkClicksDocument, linkClicks } from "../../projections/definitions/link-clicks.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import { documentPages } from "../../stores/read-store/document-pages.ts";
import { behindCursor } from "../cursor.ts";
import type { StatusDeps } from "./link-statuses.ts";
import { type AccountLinksPage, type PagePlace, pageBetween, withClicks } from "./list-links.ts";

type ClickedLink = { link: LinkDocument; people: number };

/** Most clicked by people first; without links that people have not clicked, and deleted ones. @throws invalid_cursor */
export async function topLinks(
  deps: StatusDeps,
  accountId: string,
  place: PagePlace,
): Promise<AccountLinksPage> {
  const { readStore } = deps;
  const { after, before, limit } = place;
  const clickedLinks: ClickedLink[] = [];
  const clickedPages = documentPages<LinkClicksDocument>(readStore, linkClicks.collection.name, {
    where: { accountId },
    sort: { field: "people", direction: before === undefined ? "desc" : "asc" },
    ...behindCursor(before ?? after, "number"),
    limit: limit + 1,
  });
  // Deleted links keep their clicks and are skipped, so filling a page may take several reads.
  for await (const clicked of clickedPages) {
    const ids = clicked.map(({ _id }) => _id);
    const existing = await readStore.getMany<LinkDocument>(links.collection.name, ids);
    const byId = new Map(existing.map((link) => [link._id, link]));
    for (const { _id, people } of clicked) {
      const link = byId.get(_id);
      if (link && !link.deleted && people > 0) clickedLinks.push({ link, people });
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
