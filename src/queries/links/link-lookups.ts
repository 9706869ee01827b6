// Links of an account by what one of them alone may have (link-claims.ts), from documents that show every write
// before.
import type { LinkLookups } from "../../commands/links/link-claims.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import { Refused } from "../../runtime/refused.ts";
import { shareCalls } from "../../runtime/share-calls.ts";
import type { FindQuery, ReadStore } from "../../stores/read-store/port.ts";

type Deps = { readStore: ReadStore; writesAreReadable: () => Promise<boolean> };

/** Some are blocked, or were made alike without find_existing. */
const MOST_FOUND = 20;

export function linkLookups({ readStore, writesAreReadable }: Deps): LinkLookups {
  // The items of a bulk request wait together, as each wait asks the store again and again.
  const areReadable = shareCalls(() => writesAreReadable());
  const find = async (where: NonNullable<FindQuery["where"]>) => {
    // A link that they don't show yet could have it.
    if (!(await areReadable(""))) throw new Refused("links_behind");
    const query = { where, limit: MOST_FOUND };
    const found = await readStore.find<LinkDocument>(links.collection.name, query);
    return found.map(({ host, slug }) => ({ host, slug }));
  };
  return {
    withExternalId: (accountId, externalId) => find({ accountId, externalId, deleted: false }),
    withFingerprint: (fingerprint) => find({ fingerprint, disabled: false, deleted: false }),
  };
}
