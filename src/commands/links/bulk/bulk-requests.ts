// POST /api/v1/shorten/bulk, PATCH and DELETE /api/v1/links/bulk: up to 100 links, whose items run side by side unless they touch
// the same thing (interface, part 4).
import pLimit from "p-limit";
import { type AccountState, opened } from "../../account/account.ts";

import { type Caller, type CommandContext, requireDeveloper } from "../../caller.ts";
import { verifiedHosts } from "../../domains/decide-domain.ts";
import { isClientError, Refused } from "../../refusals.ts";
import { type RequestedLink, urlsOf } from "../accept-fields.ts";
import { safetyOfAll } from "../accept-url.ts";
import { changeLink, type LinkPatch } from "../change-link.ts";
import { type CreateLinkDeps, createLink, type NewLinkRequest } from "../create-link.ts";
import type { ExistingLink } from "../link.ts";
import type { LinkAddress } from "../link-stream.ts";
import { onEachLink } from "./each-link.ts";

/** An item of a request, or why it is none. */
export type BulkItem<Item> = Item | Refused;

/** By the positions in the request. `failures`: also by errors other than refusals, after which it may be repeated. */
export type BulkOutcome<Result> = {
  results: { index: number; result: Result }[];
  failures: { index: number; error: unknown }[];
};

type BulkOptions = { idempotency?: string | undefined };

/** What the items of one request share: the account is loaded, and it is known whether their URLs are safe. */
type BulkContext = { deps: CreateLinkDeps; account: AccountState; idempotency: string | undefined };

/** `keys`: as of onEachLink. */
type Prepared<Result> = { keys: readonly string[]; run: () => Promise<Result> };

/** `isNew`: false for a link that find_existing has found. @throws what runBulk throws */
export async function createLinksInBulk(
  deps: CreateLinkDeps,
  context: CommandContext,
  by: Caller,
  items: readonly BulkItem<NewLinkRequest>[],
  options: BulkOptions = {},
): Promise<BulkOutcome<{ link: ExistingLink; isNew: boolean }>> {
  const startedAt = deps.clock().getTime();
  return await runBulk(deps, by, items, options, async (request, index, { deps: ofAll, ...shared }) => ({
    keys: keysOf(request),
    // A millisecond apart, so that lists, which are in the order of creation, have them in the order of the request.
    run: () => createLink(ofAll, context, by, request, { ...shared, at: new Date(startedAt + index) }),
  }));
}

/** So that the first of equal ones wins, and the others of one that exists already find it. */
function keysOf(request: NewLinkRequest): string[] {
  const { customSlug, domain_id: domainId, external_id: externalId, find_existing: isSought, url } = request;
  return [
    ...(customSlug === undefined ? [] : [`slug ${domainId?.toLowerCase()}/${customSlug.toLowerCase()}`]),
    ...(externalId ? [`external id ${externalId}`] : []),
    ...(isSought ? [`url ${url}`] : []),
  ];
}

type NamedLink = { slug: string; domain_id?: string | undefined };

type BulkChangeDeps = CreateLinkDeps & {
  /** Where the caller's link is, a deleted one too. @throws not_found, forbidden */
  addressOf: (item: NamedLink) => Promise<LinkAddress>;
};

/** @throws what runBulk throws */
export async function changeLinksInBulk(
  deps: BulkChangeDeps,
  context: CommandContext,
  by: Caller,
  change: "update" | "delete",
  items: readonly BulkItem<NamedLink & LinkPatch>[],
  options: BulkOptions = {},
): Promise<BulkOutcome<{ link: ExistingLink }>> {
  return await runBulk(deps, by, items, options, async (item, _, { deps: ofAll, ...shared }) => {
    const { slug, domain_id, ...patch } = item;
    const address = await deps.addressOf({ slug, domain_id });
    const request = change === "update" ? ({ type: "patch", patch } as const) : ({ type: "delete" } as const);
    const { external_id: externalId } = patch;
    return {
      keys: [`link ${address.host}/${address.slug}`, ...(externalId ? [`external id ${externalId}`] : [])],
      run: () => changeLink(ofAll, context, by, address, request, { ...shared, isExisting: true }),
    };
  });
}

/**
 * All items are begun at once, so that their appends share a transaction.
 * @throws tier_required, account_not_found for a closed account; when nothing was done and an item failed by an error other
 * than a refusal, that error, such as StoreUnavailable, as for a single request
 */
async function runBulk<Item extends RequestedLink, Result>(
  deps: CreateLinkDeps,
  by: Caller,
  items: readonly BulkItem<Item>[],
  { idempotency }: BulkOptions,
  prepare: (item: Item, index: number, context: BulkContext) => Promise<Prepared<Result>>,
): Promise<BulkOutcome<Result>> {
  requireDeveloper(by.tier, "Bulk requests");
  const account = opened(await deps.currentAccount(by.accountId));
  const urls = items.flatMap((item) => (item instanceof Refused ? [] : urlsOf(item)));
  const urlSafety = await safetyOfAll(deps, urls, verifiedHosts(account));
  // One password at a time: however many items a request has, others wait for one of them.
  const oneAtATime = pLimit(1);
  const passwordWork: typeof deps.passwordWork = {
    links: (work) => oneAtATime(() => deps.passwordWork.links(work)),
  };
  const ofAll = { ...deps, urlSafety, passwordWork };
  const all = { atOnce: items.length, failsAlone: () => true };
  const prepared = await onEachLink(
    items,
    async (item, index) => {
      if (item instanceof Refused) throw item;
      const scope = idempotency === undefined ? undefined : `${idempotency}/${index}`;
      return { index, ...(await prepare(item, index, { deps: ofAll, account, idempotency: scope })) };
    },
    all,
  );
  const runs = prepared.results.map(({ result }) => result);
  const outcome = await onEachLink(runs, ({ run }) => run(), { ...all, keysOf: ({ keys }) => keys });
  const results = outcome.results.map(({ item: { index }, result }) => ({ index, result }));
  const failures = [...prepared.failures, ...outcome.failures.map(({ item, error }) => ({ ...item, error }))];
  const fault = failures.find(({ error }) => !isClientError(error));
  if (results.length === 0 && fault) throw fault.error;
  return { results, failures: failures.sort((a, b) => a.index - b.index) };
}
