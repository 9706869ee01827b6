// The links of an account that is closed, as far as the documents show them, in the order of an index.
import type { ClosedLinks } from "../../commands/account/close-account.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import { documentPages } from "../../stores/read-store/document-pages.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";

const OLDEST = { field: "createdAt", direction: "asc" } as const;
const LINKS_PAGE = 500;

export function linksToClose({ readStore }: { readStore: Pick<ReadStore, "find"> }): ClosedLinks {
  return {
    async linksLeft(accountId) {
      const where = { accountId, deleted: false };
      return await readStore.find<LinkDocument>(links.collection.name, {
        where,
        sort: OLDEST,
        limit: LINKS_PAGE,
      });
    },
    async *passwordsOf(accountId) {
      const range = { field: "passwordId", from: "" };
      for (const deleted of [true, false]) {
        const query = { where: { accountId, deleted }, range, sort: OLDEST, limit: LINKS_PAGE };
        for await (const page of documentPages<LinkDocument>(readStore, links.collection.name, query))
          for (const { passwordId } of page) if (passwordId) yield passwordId;
      }
    },
  };
}
