// The tags of an account: those that its links have, with their colours and the clicks of people.

import { Refused } from "../../commands/refusals.ts";
import { folded, searchWords } from "../../events/links/search-text.ts";
import type { TagColour } from "../../events/vocabulary.ts";
import { type LinkTotalsDocument, linkTotals } from "../../projections/definitions/link-totals.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import { documentPages } from "../../stores/read-store/document-pages.ts";
import type { ElementCount, ReadStore } from "../../stores/read-store/port.ts";
import { countLinks } from "./list-links.ts";

type Deps = { readStore: ReadStore };

/** `links`: how many have it, without deleted ones. `clicks`: undefined where there are too many links to add up. */
export type TagRow = {
  tag: string;
  colour: TagColour | null;
  links: number;
  clicks: number | undefined;
};

/** Of an account; those of the fewest links beyond it are left out. */
const MOST_TAGS = 5_000;
/** Links of an account whose clicks are added up for each request: some 0.1 s, in the reader thread. */
const MOST_ADDED = 5_000;
const PAGE = 1_000;

/**
 * Those of the most links first. `colours`: by tag, as the account has them. `q`: words, each a part of the tag. `total`: how
 * many match.
 */
export async function listTags(
  deps: Deps,
  accountId: string,
  colours: ReadonlyMap<string, TagColour>,
  { q = "", limit }: { q?: string | undefined; limit: number },
): Promise<{ tags: TagRow[]; total: number }> {
  const counted = await countedTags(deps, accountId, MOST_TAGS);
  const words = searchWords(q);
  const matching = counted.filter(({ element }) => words.every((word) => folded(element).includes(word)));
  const clicks = await clicksByTag(deps, accountId);
  const tags = matching.slice(0, limit).map(({ element: tag, documents }) => ({
    tag,
    colour: colours.get(tag) ?? null,
    links: documents,
    clicks: clicks && (clicks.get(tag) ?? 0),
  }));
  return { tags, total: matching.length };
}

/** Those of the most links first. */
export async function tagNames(deps: Deps, accountId: string, limit: number): Promise<string[]> {
  return (await countedTags(deps, accountId, limit)).map(({ element }) => element);
}

async function countedTags({ readStore }: Deps, accountId: string, limit: number): Promise<ElementCount[]> {
  const where = { accountId, deleted: false };
  return await readStore.countElements(links.collection.name, { where, field: "tags", limit });
}

/** @throws not_found for a tag that no link has; tag_taken for a name that others have, unless they are to be merged */
export async function refuseTag(
  deps: Deps,
  accountId: string,
  tag: string,
  { name, merge = false }: { name: string; merge?: boolean | undefined },
): Promise<void> {
  if ((await countTagged(deps, accountId, tag)) === 0)
    throw new Refused("not_found", `No link has the tag ${tag}`);
  if (name === tag || merge) return;
  const others = await countTagged(deps, accountId, name);
  if (others > 0)
    throw new Refused(
      "tag_taken",
      `${others} of your links have the tag ${name} already: merge the two, or take another name`,
    );
}

/** How many links have it, without deleted ones. */
async function countTagged({ readStore }: Deps, accountId: string, tag: string): Promise<number> {
  const query = { where: { accountId, deleted: false }, has: { field: "tags", element: tag } };
  return await readStore.count(links.collection.name, query);
}

async function clicksByTag(deps: Deps, accountId: string): Promise<Map<string, number> | undefined> {
  if ((await countLinks(deps, accountId)).links > MOST_ADDED) return undefined;
  const sums = new Map<string, number>();
  const query = {
    where: { accountId, deleted: false },
    sort: { field: "createdAt", direction: "desc" },
    limit: PAGE,
  } as const;
  for await (const page of documentPages<LinkDocument>(deps.readStore, links.collection.name, query)) {
    const tagged = new Map(page.flatMap(({ _id, tags }) => (tags ? [[_id, tags] as const] : [])));
    const ids = [...tagged.keys()];
    const clicked = await deps.readStore.getMany<LinkTotalsDocument>(linkTotals.name, ids, ["people"]);
    for (const { _id, people } of clicked)
      for (const tag of tagged.get(_id) ?? []) sums.set(tag, (sums.get(tag) ?? 0) + people);
  }
  return sums;
}
