// POST /api/v1/shorten: one link, on the base host or on the caller's own domain (interface, part 4). LinkCreated is appended
// where there is no stream, which makes slugs unique.
import { StoreUnavailable } from "../../connections/errors.ts";
import { type LinkOptions, withOptions } from "../../events/link-options.ts";
import { readEvent } from "../../events/read-event.ts";
import { linkStream } from "../../events/streams.ts";
import { isRefused, Refused } from "../../runtime/refused.ts";
import type { AccountState } from "../account/account.ts";
import type { CurrentAccount } from "../account/accounts.ts";
import { type Caller, type CommandContext, requireDeveloper } from "../caller.ts";
import { verifiedDomain, verifiedHosts } from "../domains/domain.ts";
import { type Appended, type CommandDeps, handleCommand } from "../handle-command.ts";
import { acceptUrl } from "./accept-url.ts";
import { type DeriveSlug, derivedId } from "./derived-identity.ts";
import { create, type ExistingLink, evolve, freeLink } from "./link.ts";
import { type AcceptFieldsDeps, acceptFields, requireTierOf } from "./link-fields.ts";
import { type LinkObject, linkObject, type ShortenRequest } from "./link-object.ts";
import { foldedLink, type LinkPlace } from "./link-stream.ts";
import { acceptCustomSlug } from "./slug.ts";
import type { RecheckLater } from "./url-safety.ts";

export type CreateLinkDeps = CommandDeps &
  AcceptFieldsDeps & {
    currentAccount: CurrentAccount;
    recheckLater: RecheckLater;
    randomSlug: () => string;
    /** Used instead of `randomSlug` for a request with an idempotency scope. */
    derivedSlug: DeriveSlug;
  };

const SLUG_TRIES = 5;

/**
 * `idempotency`: a scope; repeating a request with the same one creates no second link. `account`: the caller's, when it is
 * loaded already (bulk requests).
 * @throws of several faults the first in this order: account_not_found for a closed account, tier_required, invalid_url,
 * unsafe_url, custom_slug_needs_domain, invalid_domain, invalid_slug, invalid_url and unsafe_url of other fields,
 * invalid_request for fields that contradict each other, slug_taken, no_free_slug
 */
export async function createLink(
  deps: CreateLinkDeps,
  context: CommandContext,
  by: Caller,
  request: ShortenRequest,
  options: { idempotency?: string | undefined; account?: () => Promise<AccountState> } = {},
): Promise<Appended & { link: LinkObject }> {
  const account = options.account ?? memoizedAccount(deps, by);
  await account();
  allowedByTier(by, request);
  const { url, customSlug } = request;
  const ownHosts = async () => verifiedHosts(await account());
  const { longUrl, isChecked } = await acceptUrl(deps, url, ownHosts);
  const place = await placeOf(deps, request, account);
  const custom = customSlug === undefined ? undefined : acceptCustomSlug(customSlug);
  const { options: carried, unchecked } = await acceptFields(deps, request, ownHosts);
  if (!isChecked) unchecked.push(longUrl);
  const scope = options.idempotency;
  for (let attempt = 0; ; attempt++) {
    const slug = custom ?? (scope === undefined ? deps.randomSlug() : deps.derivedSlug(scope, attempt));
    for (const url of unchecked) await deps.recheckLater({ host: place.host, slug, longUrl: url });
    const wanted = { ...withOptions({}, carried), longUrl, slug, custom: custom !== undefined };
    const id = scope === undefined ? undefined : derivedId("LinkCreated", scope, attempt);
    try {
      const { link, position } = await append(deps, context, by, place, wanted, id);
      return { link: linkObject(link, deps.baseUrl), position };
    } catch (error) {
      if (custom !== undefined || !isRefused(error, "slug_taken")) throw error;
      if (attempt === SLUG_TRIES - 1) throw new Refused("no_free_slug");
    }
  }
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
  requireTierOf(request, by.tier);
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

/**
 * `derived`: the id of LinkCreated, by which the store recognises what the same request appended before. The answer is then
 * what was created, without later changes.
 * @throws slug_taken; StoreUnavailable when an appended link can't be read back
 */
async function append(
  deps: CreateLinkDeps,
  context: CommandContext,
  { accountId, via, keyId }: Caller,
  { host, origin, domainId }: LinkPlace,
  wanted: LinkOptions & { longUrl: string; slug: string; custom: boolean },
  derived: string | undefined,
): Promise<Appended & { link: ExistingLink }> {
  const createdAt = deps.clock().toISOString();
  const { slug } = wanted;
  const shortUrl = `${origin}/${slug}`;
  const facts = { host, accountId, shortUrl, createdAt, via, keyId, domainId, ...wanted };
  const id = derived ?? deps.newId();
  const { state, position } = await handleCommand(deps, context, {
    ...foldedLink(host, slug),
    decide: (link) => create(link, facts),
    expectNew: true,
    eventId: () => id,
  });
  if (derived === undefined) return { link: state as ExistingLink, position };
  const stream = linkStream(host, slug);
  const [recorded] = await deps.eventStore.read(stream, { limit: 1 });
  const created = recorded && readEvent(recorded);
  if (created?.type !== "LinkCreated")
    throw new StoreUnavailable(`${stream} can't be read back after it was appended`);
  return { link: evolve(freeLink, created) as ExistingLink, position: created.position };
}
