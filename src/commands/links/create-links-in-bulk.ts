// POST /api/v1/shorten/bulk: up to 100 links; an invalid item does not fail the others (interface, part 4).

import type { Tier } from "../../events/vocabulary.ts";
import { type Caller, type CommandContext, requireDeveloper } from "../caller.ts";
import { verifiedHosts } from "../domains/domain.ts";
import { OUR_WORDS } from "../issue-sentence.ts";
import { urlsOf } from "./accept-fields.ts";
import { askedAtOnce } from "./accept-url.ts";
import { acceptItem, type BulkError, runBulk } from "./bulk-items.ts";
import { type CreateLinkDeps, createLink, memoizedAccount } from "./create-link.ts";
import { type LinkObject, ShortenRequest } from "./link-object.ts";

/** `existing`: present for a link that find_existing has found, which `created` doesn't count. */
type BulkResult = Omit<LinkObject, "qr_download_url"> & { existing?: true };

/** Bulk response of the interface, part 4; `index` is the position in the request in both lists. */
export type BulkAnswer = {
  success: boolean;
  tier: Tier;
  total: number;
  created: number;
  failed: number;
  results: ({ index: number } & BulkResult)[];
  errors: (BulkError & { url: string })[];
};

export type BulkDeps = CreateLinkDeps & {
  /** Logs that items failed by an error other than a refusal. */
  log?: { error: (details: object, message: string) => void } | undefined;
};

type ParsedItem = ReturnType<typeof ShortenRequest.safeParse>;

const FAILED = "Failed to create the short link";

/**
 * `links`: 1 to 100 items of any shape. `isFinal`: as of runBulk.
 * @throws tier_required, account_not_found for a closed account; what runBulk throws
 */
export async function createLinksInBulk(
  deps: BulkDeps,
  context: CommandContext,
  by: Caller,
  links: readonly unknown[],
  options: { idempotency?: string | undefined } = {},
): Promise<{ bulk: BulkAnswer; isFinal: boolean }> {
  requireDeveloper(by.tier, "Bulk requests");
  const account = memoizedAccount(deps, by);
  await account();
  const items = links.map((item) => ShortenRequest.safeParse(item, OUR_WORDS));
  const urls = items.flatMap(({ data }) => (data ? urlsOf(data) : []));
  const ownHosts = async () => verifiedHosts(await account());
  const asked = { ...deps, urlSafety: await askedAtOnce(deps, urls, ownHosts) };
  const run = async (index: number): Promise<BulkResult> => {
    const idempotency = options.idempotency === undefined ? undefined : `${options.idempotency}/${index}`;
    const request = acceptItem(items[index] as ParsedItem);
    const { link, isNew } = await createLink(asked, context, by, request, { account, idempotency });
    const { qr_download_url: _, ...result } = link;
    return isNew ? result : { ...result, existing: true };
  };
  const { results, errors, isFinal } = await runBulk(deps, items.map(keysOf), FAILED, run);
  const bulk = {
    success: results.length > 0,
    tier: by.tier,
    total: links.length,
    created: results.filter(({ existing }) => !existing).length,
    failed: errors.length,
    results,
    errors: errors.map(({ index, ...error }) => ({ index, url: urlOf(links[index]), ...error })),
  };
  return { bulk, isFinal };
}

function urlOf(item: unknown): string {
  const url = (item as { url?: unknown } | null | undefined)?.url;
  return typeof url === "string" ? url : "";
}

/** So that the first of equal ones wins, and the others of one that exists already find it. */
function keysOf({ data }: ParsedItem): string[] {
  if (!data) return [];
  const { customSlug, domain_id: domainId, external_id: externalId, find_existing: isSought, url } = data;
  return [
    ...(customSlug === undefined ? [] : [`slug ${domainId?.toLowerCase()}/${customSlug.toLowerCase()}`]),
    ...(externalId ? [`external id ${externalId}`] : []),
    ...(isSought ? [`url ${url}`] : []),
  ];
}
