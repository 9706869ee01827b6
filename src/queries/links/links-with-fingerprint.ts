// What find_existing asks the documents, which show every write before.
import type { LinksWithFingerprint } from "../../commands/links/find-existing.ts";
import { Refused } from "../../commands/refusals.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import { shareCalls } from "../../runtime/share-calls.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";

type Deps = { readStore: ReadStore; writesAreReadable: () => Promise<boolean> };

/** Some are blocked, or were made alike without find_existing. */
const MOST_LINKS = 20;

/** The function throws links_behind. */
export function linksWithFingerprint({ readStore, writesAreReadable }: Deps): LinksWithFingerprint {
  // The items of a bulk request wait together, as each wait asks the store again and again.
  const areReadable = shareCalls(() => writesAreReadable());
  return async (fingerprint) => {
    // A link that they don't show yet could be the same.
    if (!(await areReadable(""))) throw new Refused("links_behind");
    const where = { fingerprint, disabled: false, deleted: false };
    const documents = await readStore.find<LinkDocument>(links.collection.name, { where, limit: MOST_LINKS });
    return documents.map(({ host, slug }) => ({ host, slug }));
  };
}
