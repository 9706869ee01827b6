// POST /api/v1/shorten/bulk: up to 100 links; an invalid item does not fail the others (interface, part 4).

import type { Caller, CommandContext } from "../../caller.ts";
import { createLink } from "../create-link.ts";
import type { ExistingLink } from "../link.ts";
import { ShortenRequest } from "../link-object.ts";
import { type Bulk, type BulkDeps, type BulkKind, runBulk } from "./bulk.ts";

/** `isNew`: false for a link that find_existing has found. */
type CreatedItem = { link: ExistingLink; isNew: boolean };

/** `links`: 1 to 100 items of any shape. `isFinal`: as of runBulk. @throws what runBulk throws */
export async function createLinksInBulk(
  deps: BulkDeps,
  context: CommandContext,
  by: Caller,
  links: readonly unknown[],
  { idempotency }: { idempotency?: string | undefined } = {},
): Promise<{ bulk: Bulk<CreatedItem, "url">; isFinal: boolean }> {
  const startedAt = deps.clock().getTime();
  const kind: BulkKind<ShortenRequest, CreatedItem, "url"> = {
    schema: ShortenRequest,
    named: "url",
    failed: "Failed to create the short link",
    async prepare(request, index, { deps: known, account }) {
      const options = {
        account,
        idempotency: idempotency === undefined ? undefined : `${idempotency}/${index}`,
        // A millisecond apart, so that lists, which are in the order of creation, have them in the order of the request.
        at: new Date(startedAt + index),
      };
      return {
        keys: keysOf(request),
        async run() {
          const { link, isNew } = await createLink(known, context, by, request, options);
          return { link, isNew };
        },
      };
    },
  };
  return await runBulk(deps, by, links, kind);
}

/** So that the first of equal ones wins, and the others of one that exists already find it. */
function keysOf(request: ShortenRequest): string[] {
  const { customSlug, domain_id: domainId, external_id: externalId, find_existing: isSought, url } = request;
  return [
    ...(customSlug === undefined ? [] : [`slug ${domainId?.toLowerCase()}/${customSlug.toLowerCase()}`]),
    ...(externalId ? [`external id ${externalId}`] : []),
    ...(isSought ? [`url ${url}`] : []),
  ];
}
