// A page of an account's links that are not deleted yet, for jobs/account-closing.ts.
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import type { ReadStore } from "../../read-store/port.ts";

const PAGE = 500;

export async function linksLeft(
  { readStore }: { readStore: ReadStore },
  accountId: string,
): Promise<{ host: string; slug: string }[]> {
  const where = { accountId, deleted: false };
  const found = await readStore.find<LinkDocument>(links.collection.name, { where, limit: PAGE });
  return found.map(({ host, slug }) => ({ host, slug }));
}
