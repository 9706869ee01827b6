// PATCH and DELETE /api/v1/links/bulk: up to 100 links; an invalid item does not fail the others.

import { z } from "zod";
import type { Caller, CommandContext } from "../../caller.ts";
import { changeLink } from "../change-link.ts";
import type { ExistingLink } from "../link.ts";
import { NamedLink, PatchRequest } from "../link-object.ts";
import type { LinkAddress } from "../link-stream.ts";
import { type Bulk, type BulkDeps, type BulkKind, runBulk } from "./bulk.ts";

export const BulkPatchItem = z
  .strictObject({ ...NamedLink.shape, ...PatchRequest.shape })
  .meta({ id: "BulkPatchItem" });

type Item = z.infer<typeof BulkPatchItem>;

type BulkChangeDeps = BulkDeps & {
  /** Where the caller's link is, a deleted one too. @throws not_found, forbidden */
  addressOf: (item: Pick<Item, "slug" | "domain_id">) => Promise<LinkAddress>;
};

/** `links`: 1 to 100 items of any shape. `isFinal`: as of runBulk. @throws what runBulk throws */
export async function changeLinksInBulk(
  deps: BulkChangeDeps,
  context: CommandContext,
  by: Caller,
  change: "update" | "delete",
  links: readonly unknown[],
  { idempotency }: { idempotency?: string | undefined } = {},
): Promise<{ bulk: Bulk<{ link: ExistingLink }, "slug">; isFinal: boolean }> {
  const kind: BulkKind<Item, { link: ExistingLink }, "slug"> = {
    schema: change === "update" ? BulkPatchItem : NamedLink,
    named: "slug",
    failed: "Failed to change the link",
    async prepare({ slug, domain_id, ...patch }, index, { deps: known, account }) {
      const address = await deps.addressOf({ slug, domain_id });
      const request =
        change === "update" ? ({ type: "patch", patch } as const) : ({ type: "delete" } as const);
      const { external_id: externalId } = patch;
      const options = {
        account,
        idempotency: idempotency === undefined ? undefined : `${idempotency}/${index}`,
        isExisting: true,
      };
      return {
        keys: [`link ${address.host}/${address.slug}`, ...(externalId ? [`external id ${externalId}`] : [])],
        async run() {
          const { link } = await changeLink(known, context, by, address, request, options);
          return { link };
        },
      };
    },
  };
  return await runBulk(deps, by, links, kind);
}
