// PATCH and DELETE /api/v1/links/bulk: up to 100 links; an invalid item does not fail the others.

import { z } from "zod";
import type { Tier } from "../../events/vocabulary.ts";
import { type Caller, type CommandContext, requireDeveloper } from "../caller.ts";
import { verifiedHosts } from "../domains/domain.ts";
import { OUR_WORDS } from "../issue-sentence.ts";
import { urlsOf } from "./accept-fields.ts";
import { askedAtOnce } from "./accept-url.ts";
import { acceptItem, type BulkError, runBulk } from "./bulk-items.ts";
import { changeLink } from "./change-link.ts";
import { memoizedAccount } from "./create-link.ts";
import type { BulkDeps } from "./create-links-in-bulk.ts";
import type { ExistingLink } from "./link.ts";
import { NamedLink, PatchRequest } from "./link-object.ts";
import type { LinkAddress } from "./link-stream.ts";

export const BulkPatchItem = z
  .strictObject({ ...NamedLink.shape, ...PatchRequest.shape })
  .meta({ id: "BulkPatchItem" });

type Item = z.infer<typeof BulkPatchItem>;

type BulkChangeDeps = BulkDeps & {
  /** Where the caller's link is, a deleted one too. @throws not_found, forbidden */
  addressOf: (item: Pick<Item, "slug" | "domain_id">) => Promise<LinkAddress>;
};

/** `done`: how many links are as was wanted. */
type BulkChanges = {
  success: boolean;
  tier: Tier;
  total: number;
  done: number;
  failed: number;
  results: { index: number; link: ExistingLink }[];
  errors: (BulkError & { slug: string })[];
};

const FAILED = "Failed to change the link";

/**
 * `links`: 1 to 100 items of any shape. `isFinal`: as of runBulk.
 * @throws tier_required, account_not_found for a closed account; what runBulk throws
 */
export async function changeLinksInBulk(
  deps: BulkChangeDeps,
  context: CommandContext,
  by: Caller,
  wanted: "update" | "delete",
  links: readonly unknown[],
  options: { idempotency?: string | undefined } = {},
): Promise<{ bulk: BulkChanges; isFinal: boolean }> {
  requireDeveloper(by.tier, "Bulk requests");
  const account = memoizedAccount(deps, by);
  await account();
  const schema: z.ZodType<Item> = wanted === "update" ? BulkPatchItem : NamedLink;
  const items = links.map((item) => schema.safeParse(item, OUR_WORDS));
  const urls = items.flatMap(({ data }) => (data ? urlsOf(data) : []));
  const ownHosts = async () => verifiedHosts(await account());
  const asked = { ...deps, urlSafety: await askedAtOnce(deps, urls, ownHosts) };
  const found = await Promise.allSettled(
    items.map(async (item) => {
      const { slug, domain_id, ...patch } = acceptItem(item);
      return { patch, address: await deps.addressOf({ slug, domain_id }) };
    }),
  );
  const keys = found.map((one) => {
    if (one.status === "rejected") return [];
    const { address, patch } = one.value;
    const id = patch.external_id;
    return [`link ${address.host}/${address.slug}`, ...(id ? [`external id ${id}`] : [])];
  });
  const run = async (index: number): Promise<{ link: ExistingLink }> => {
    const idempotency = options.idempotency === undefined ? undefined : `${options.idempotency}/${index}`;
    const one = found[index] as (typeof found)[number];
    if (one.status === "rejected") throw one.reason;
    const { address, patch } = one.value;
    const request = wanted === "update" ? ({ type: "patch", patch } as const) : ({ type: "delete" } as const);
    const how = { idempotency, isExisting: true, account };
    const { link } = await changeLink(asked, context, by, address, request, how);
    return { link };
  };
  const { results, errors, isFinal } = await runBulk(deps, keys, FAILED, run);
  const bulk = {
    success: results.length > 0,
    tier: by.tier,
    total: links.length,
    done: results.length,
    failed: errors.length,
    results,
    errors: errors.map(({ index, ...error }) => ({ index, slug: slugOf(links[index]), ...error })),
  };
  return { bulk, isFinal };
}

function slugOf(item: unknown): string {
  const slug = (item as { slug?: unknown } | null | undefined)?.slug;
  return typeof slug === "string" ? slug : "";
}
