// Number of links of each account, so that pages don't count up to 100,000 documents.
import type { Document } from "../../stores/read-store/port.ts";
import type { Projection } from "../projection.ts";

/** `_id`: accountId. `links`: those that are not deleted; `deleted`: those that could be restored. */
export type AccountLinksDocument = Document & { links: number; deleted: number };

const HANDLED = ["LinkCreated", "LinkDeleted", "LinkRestored"] as const;

export const accountLinks: Projection<AccountLinksDocument, (typeof HANDLED)[number]> = {
  collection: { name: "account-links", indexes: [] },
  handles: HANDLED,
  key: ({ data }) => data.accountId,
  empty: () => ({ links: 0, deleted: 0 }),
  evolve({ links, deleted }, event) {
    switch (event.type) {
      case "LinkCreated":
        return { links: links + 1, deleted };
      case "LinkDeleted":
        return { links: links - 1, deleted: deleted + 1 };
      case "LinkRestored":
        return { links: links + 1, deleted: deleted - 1 };
    }
  },
};
