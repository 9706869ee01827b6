// The portal's list of an account's most clicked links.
import { type LinkClicksDocument, linkClicks } from "../../projections/definitions/link-clicks.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import { documentPages } from "../../stores/read-store/document-pages.ts";
import type { StatusDeps } from "./link-statuses.ts";
import { type AccountLinksPage, withClicks } from "./list-links.ts";

/** A page of the most clicked links reads those before it, too. */
const MOST_SHOWN = 500;

/** Most clicked by people first, at most 500; without links that people have not clicked, and deleted ones. */
export async function topLinks(
  deps: StatusDeps,
  accountId: string,
  { limit, page = 1 }: { limit: number; page?: number },
): Promise<AccountLinksPage> {
  const { readStore } = deps;
  const top: LinkDocument[] = [];
  const end = Math.min(page * limit, MOST_SHOWN);
  const mostClicked = documentPages<LinkClicksDocument>(readStore, linkClicks.collection.name, {
    where: { accountId },
    sort: { field: "people", direction: "desc" },
    limit: end + 1,
  });
  // Deleted links keep their clicks and are skipped, so filling a page may take several reads.
  for await (const clicked of mostClicked) {
    const ids = clicked.map(({ _id }) => _id);
    const found = await readStore.getMany<LinkDocument>(links.collection.name, ids);
    const byId = new Map(found.map((link) => [link._id, link]));
    for (const clicks of clicked) {
      const link = byId.get(clicks._id);
      if (link && !link.deleted && clicks.people > 0) top.push(link);
    }
    if (top.length > end || clicked.at(-1)?.people === 0) break;
  }
  const shown = await withClicks(deps, top.slice((page - 1) * limit, end));
  return { links: shown, page, pages: top.length > end && end < MOST_SHOWN ? page + 1 : page };
}
