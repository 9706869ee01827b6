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
  // From the id, because the document's `host` may include a port, which the stream name does not.
  return found.map(({ _id }) => {
    const slash = _id.indexOf("/");
    return { host: _id.slice(0, slash), slug: _id.slice(slash + 1) };
  });
}
