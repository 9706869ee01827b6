// POST /api/v1/shorten: one link, on the base host or on the caller's own domain (interface, part 4).
import type { Position } from "../../event-store/port.ts";
import { Refused } from "../../runtime/refused.ts";
import type { AccountState } from "../account/account.ts";
import type { CurrentAccount } from "../account/accounts.ts";
import { type Caller, type CommandContext, requireDeveloper } from "../caller.ts";
import { verifiedDomain, verifiedHosts } from "../domains/domain.ts";
import { type AcceptUrlDeps, acceptUrl } from "./accept-url.ts";
import { type LinkObject, linkObject, type ShortenRequest } from "./link-object.ts";
import { type AppendLinkDeps, appendLink, type LinkPlace, onFreeSlug } from "./link-stream.ts";
import { acceptCustomSlug } from "./slug.ts";
import type { RecheckLater } from "./url-safety.ts";

export type CreateLinkDeps = AppendLinkDeps &
  AcceptUrlDeps & { currentAccount: CurrentAccount; recheckLater: RecheckLater };

export type CreatedLink = { link: LinkObject; position: Position | undefined };

export type CreateLinkOptions = {
  /** Idempotency scope: repeating a request with the same scope creates no second link. */
  idempotency?: string | undefined;
  /** The caller's account, when it is loaded already (bulk requests). */
  account?: (() => Promise<AccountState>) | undefined;
};

/**
 * @throws of several faults the first in this order: account_not_found for a closed account, tier_required, invalid_url,
 * unsafe_url, custom_slug_needs_domain, invalid_domain, invalid_slug, slug_taken, no_free_slug
 */
export async function createLink(
  deps: CreateLinkDeps,
  context: CommandContext,
  by: Caller,
  request: ShortenRequest,
  options: CreateLinkOptions = {},
): Promise<CreatedLink> {
  const account = options.account ?? memoizedAccount(deps, by);
  await account();
  allowedByTier(by, request);
  const { url, customSlug } = request;
  const { longUrl, isChecked } = await acceptUrl(deps, url, async () => verifiedHosts(await account()));
  const place = await placeOf(deps, request, account);
  const slug = customSlug === undefined ? undefined : acceptCustomSlug(customSlug);
  const scope = options.idempotency;
  const append = async (slug: string, custom: boolean, attempt: number) => {
    if (!isChecked) await deps.recheckLater({ host: place.host, slug, longUrl });
    return appendLink(deps, context, by, { longUrl, place, slug, custom, scope, attempt });
  };
  const created = slug
    ? await append(slug, true, 0)
    : await onFreeSlug(deps, scope, (free, attempt) => append(free, false, attempt));
  return { link: linkObject(created.link, deps.baseUrl), position: created.position };
}

/**
 * Memoizes the caller's account for all links of one request. Every command on a link calls it first, because the
 * link's own stream does not contain the closing of its account.
 * @throws account_not_found when it is closed
 */
export function memoizedAccount(
  deps: Pick<CreateLinkDeps, "currentAccount">,
  by: Caller,
): () => Promise<AccountState> {
  let loading: Promise<AccountState> | undefined;
  const load = async () => {
    const account = await deps.currentAccount(by.accountId);
    if (account.status === "closed") throw new Refused("account_not_found");
    return account;
  };
  return () => {
    loading ??= load();
    return loading;
  };
}

function allowedByTier(by: Caller, request: ShortenRequest): void {
  if (request.customSlug !== undefined) requireDeveloper(by.tier, "Custom slugs");
  if (request.domain_id !== undefined) requireDeveloper(by.tier, "Custom domains");
}

async function placeOf(
  deps: CreateLinkDeps,
  request: ShortenRequest,
  account: () => Promise<AccountState>,
): Promise<LinkPlace> {
  if (request.domain_id === undefined) {
    if (request.customSlug !== undefined) throw new Refused("custom_slug_needs_domain");
    return { host: deps.baseHost, origin: deps.baseUrl };
  }
  const domain = verifiedDomain(await account(), request.domain_id.toLowerCase());
  if (domain?.state !== "active") throw new Refused("invalid_domain");
  return { host: domain.hostname, origin: `https://${domain.hostname}`, domainId: domain.domainId };
}
