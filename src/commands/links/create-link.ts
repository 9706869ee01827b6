// POST /api/v1/shorten: one link, on the base host or on the caller's own domain (interface, part 4). LinkCreated is appended
// where there is no stream, which makes slugs unique.

import { fingerprintOf, type LinkOptions, withOptions } from "../../events/link-options.ts";
import { readEvent } from "../../events/read-event.ts";
import { linkStream } from "../../events/streams.ts";
import { isRefused, Refused } from "../../runtime/refused.ts";
import { StoreUnavailable } from "../../stores/connections/errors.ts";
import type { AccountState } from "../account/account.ts";
import type { CurrentAccount } from "../account/accounts.ts";
import { type Caller, type CommandContext, requireDeveloper } from "../caller.ts";
import { verifiedDomain, verifiedHosts } from "../domains/domain.ts";
import { type Appended, type CommandDeps, handleCommand } from "../handle-command.ts";
import { type AcceptFieldsDeps, acceptFields, requireTierOf, urlsOf } from "./accept-fields.ts";
import { acceptUrl, askedAtOnce } from "./accept-url.ts";
import { type DeriveSlug, derivedId } from "./derived-identity.ts";
import { refuseUnknownRules } from "./fields/rule-ids.ts";
import { create, type ExistingLink, evolve, freeLink } from "./link.ts";
import { isNotAppended, isSame, type LinkLookups, unlessExisting, withExternalId } from "./link-claims.ts";
import { type LinkObject, linkObject, type ShortenRequest } from "./link-object.ts";
import { forgetPassword } from "./link-password.ts";
import { currentLink, foldedLink, type LinkPlace } from "./link-stream.ts";
import { acceptCustomSlug } from "./slug.ts";
import type { RecheckLater } from "./url-safety.ts";

export type CreateLinkDeps = CommandDeps &
  AcceptFieldsDeps & {
    currentAccount: CurrentAccount;
    recheckLater: RecheckLater;
    linkLookups: LinkLookups;
    randomSlug: () => string;
    /** Used instead of `randomSlug` for a request with an idempotency scope. */
    derivedSlug: DeriveSlug;
  };

const SLUG_TRIES = 5;

/**
 * `idempotency`: a scope; repeating a request with the same one creates no second link. `account`: the caller's, when it is
 * loaded already (bulk requests). `baseHostSlugs`: a slug may be chosen on the base host, too, which the API never allows.
 * @throws of several faults the first in this order: account_not_found for a closed account, tier_required, invalid_url,
 * unsafe_url, custom_slug_needs_domain, invalid_domain, invalid_slug, invalid_url and unsafe_url of other fields,
 * link_claimed, external_id_taken, invalid_request for fields that contradict each other, slug_taken, no_free_slug
 */
export async function createLink(
  deps: CreateLinkDeps,
  context: CommandContext,
  by: Caller,
  request: ShortenRequest,
  options: {
    idempotency?: string | undefined;
    account?: () => Promise<AccountState>;
    baseHostSlugs?: boolean;
  } = {},
): Promise<CreatedLink> {
  const account = options.account ?? memoizedAccount(deps, by);
  await account();
  allowedByTier(by, request);
  const { url, customSlug } = request;
  const ownHosts = async () => verifiedHosts(await account());
  const urls = urlsOf(request);
  const asked = urls.length > 1 ? { ...deps, urlSafety: await askedAtOnce(deps, urls, ownHosts) } : deps;
  const { longUrl, isChecked } = await acceptUrl(asked, url, ownHosts);
  const place = await placeOf(deps, request, account, options.baseHostSlugs);
  const custom =
    customSlug === undefined ? undefined : acceptCustomSlug(customSlug, place.host === deps.baseHost);
  const { options: carried, unchecked } = await acceptFields(asked, request, ownHosts);
  refuseUnknownRules(carried.rules ?? [], []);
  if (!isChecked) unchecked.push(longUrl);
  const what = { ...withOptions<LinkOptions>({}, carried), longUrl };
  const wanted = { place, what, custom, isSought: request.find_existing === true, unchecked };
  try {
    const { link, position, isNew } = await makeOrFind(deps, context, by, wanted, options.idempotency);
    // A repeated request has made its link with the password that it kept first.
    if (carried.passwordId !== link.passwordId) await forgetPassword(deps, carried.passwordId);
    return { link: linkObject(link, deps.baseUrl), position, isNew };
  } catch (error) {
    if (isNotAppended(error)) await forgetPassword(deps, carried.passwordId);
    throw error;
  }
}

type Wanted = {
  place: LinkPlace;
  what: LinkOptions & { longUrl: string };
  custom: string | undefined;
  /** With find_existing. */
  isSought: boolean;
  unchecked: readonly string[];
};

/** @throws link_claimed, external_id_taken, invalid_request, slug_taken, no_free_slug */
async function makeOrFind(
  deps: CreateLinkDeps,
  context: CommandContext,
  by: Caller,
  { place, what, custom, isSought, unchecked }: Wanted,
  scope: string | undefined,
): Promise<MadeOrFound> {
  const token = scope === undefined ? deps.newId() : derivedId("claim", scope);
  const { accountId } = by;
  const { host } = place;
  const { externalId } = what;
  const fingerprint = isSought ? fingerprintOf({ ...what, accountId, host }) : null;
  for (let attempt = 0; ; attempt++) {
    const slug = custom ?? (scope === undefined ? deps.randomSlug() : deps.derivedSlug(scope, attempt));
    for (const url of unchecked) await deps.recheckLater({ host, slug, longUrl: url });
    const id = scope === undefined ? undefined : derivedId("LinkCreated", scope, attempt);
    const claimant = { host, slug, accountId, token };
    const make = () => append(deps, context, by, place, { ...what, slug, custom: custom !== undefined }, id);
    const makeAlone = () =>
      externalId === undefined ? make() : withExternalId(deps, claimant, externalId, make);
    try {
      if (fingerprint === null || custom !== undefined) return { ...(await makeAlone()), isNew: true };
      const result = await unlessExisting(deps, claimant, fingerprint, makeAlone);
      return "holder" in result ? found(result.holder) : { ...result.appended, isNew: true };
    } catch (error) {
      if (!isRefused(error, "slug_taken")) throw error;
      if (custom !== undefined) {
        const link = await currentLink(deps.eventStore, host, custom);
        if (fingerprint === null || link.status === "free" || !isSame(link, fingerprint)) throw error;
        return found(link);
      }
      if (attempt === SLUG_TRIES - 1) throw new Refused("no_free_slug");
    }
  }
}

/** `isNew`: false for one that find_existing has found. */
type MadeOrFound = Appended & { link: ExistingLink; isNew: boolean };
type CreatedLink = Omit<MadeOrFound, "link"> & { link: LinkObject };

function found(link: ExistingLink): MadeOrFound {
  return { link, position: undefined, isNew: false };
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
  baseHostSlugs = false,
): Promise<LinkPlace> {
  if (request.domain_id === undefined) {
    if (request.customSlug !== undefined && !baseHostSlugs) throw new Refused("custom_slug_needs_domain");
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
