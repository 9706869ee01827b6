// Some links of an account that are not deleted yet: what closing the account works through.
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import type { ReadStore } from "../../read-store/port.ts";

const PAGE = 500;

export async function linksLeft(
  { readStore }: { readStore: ReadStore },
  accountId: string,
): Promise<{ host: string; slug: string }[]> {
  const where = { accountId, deleted: false };
  const found = await readStore.find<LinkDocument>(links.collection.name, { where, limit: PAGE });
  // The identity, which has no port: `host` is written as in the short URL.
  return found.map(({ _id }) => {
    const slash = _id.indexOf("/");
    return { host: _id.slice(0, slash), slug: _id.slice(slash + 1) };
  });
}
