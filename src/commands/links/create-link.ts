// POST /api/v1/shorten: one link, on the base host or on the caller's own domain (interface, part 4). LinkCreated is appended
// where there is no stream, which makes slugs unique.

import { fingerprintOf, type LinkOptions, withOptions } from "../../events/link-options.ts";
import { readEvent } from "../../events/read-event.ts";
import { Failure } from "../../runtime/errors.ts";
import { StoreUnavailable } from "../../stores/connections/errors.ts";
import { type AccountState, opened } from "../account/account.ts";
import type { CurrentAccount } from "../account/account-stream.ts";
import { type Caller, type CommandContext, requireDeveloper } from "../caller.ts";
import { verifiedDomain, verifiedHosts } from "../domains/decide-domain.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { isRefused, Refused } from "../refusals.ts";
import {
  type AcceptedLink,
  type AcceptFieldsDeps,
  acceptFields,
  type RequestedLink,
  refusePastEnd,
  requireTierOf,
} from "./accept-fields.ts";
import { type AppendLinkDeps, appendToLink } from "./append-link.ts";
import { derivedId } from "./derived-identity.ts";
import { refuseUnknownRules } from "./fields/rule-ids.ts";
import { type FindExistingDeps, findExisting, isSame } from "./find-existing.ts";
import {
  create,
  type ExistingLink,
  evolve,
  freeLink,
  type LinkDetails,
  type LinkState,
  slugTaken,
} from "./link.ts";
import { forgetPassword } from "./link-password.ts";
import { currentLink, firstOfLink, foldedLink, type LinkAddress, type LinkPlace } from "./link-stream.ts";
import { acceptCustomSlug } from "./slug.ts";

export type CreateLinkDeps = CommandDeps &
  AcceptFieldsDeps &
  AppendLinkDeps &
  FindExistingDeps & {
    currentAccount: CurrentAccount;
    /** A request with an idempotency scope gets its slug from `derivedSlug`. */
    randomSlug: () => string;
    /** Whether people choose slugs on the base host, too, and not on their own domains alone. */
    baseHostSlugs: boolean;
  };

export type NewLinkRequest = RequestedLink & {
  url: string;
  customSlug?: string | undefined;
  domain_id?: string | undefined;
  find_existing?: boolean | undefined;
};

/**
 * `idempotency`: a scope; repeating a request with the same one creates no second link. `account`: the caller's, when it is
 * loaded already (bulk requests). `at`: when it is created, by default now.
 */
type CreateOptions = {
  idempotency?: string | undefined;
  account?: AccountState;
  at?: Date;
};

/** `isNew`: false for one that find_existing has found. */
type CreatedLink = Appended & { link: ExistingLink; isNew: boolean };

/** A link without its slug. */
type LinkFacts = Omit<LinkDetails, "slug" | "shortUrl">;

const SLUG_TRIES = 5;

/**
 * @throws of several faults the first in this order: account_not_found for a closed account, tier_required, invalid_request
 * for an end in the past, invalid_url, unsafe_url, custom_slug_needs_domain, invalid_domain, invalid_slug, links_behind,
 * link_claimed, external_id_taken, invalid_request for fields that contradict each other, slug_taken, Failure
 */
export async function createLink(
  deps: CreateLinkDeps,
  context: CommandContext,
  by: Caller,
  request: NewLinkRequest,
  options: CreateOptions = {},
): Promise<CreatedLink> {
  const account = options.account ?? opened(await deps.currentAccount(by.accountId));
  refuseByTier(by, request);
  refusePastEnd(request, deps.clock());
  const accepted = await acceptFields(deps, request, verifiedHosts(account));
  refuseUnknownRules(accepted.options.rules ?? [], []);
  const { customSlug, find_existing: isSought = false } = request;
  const place = placeOf(deps, request, account);
  const custom =
    customSlug === undefined ? undefined : acceptCustomSlug(customSlug, place.host === deps.baseHost);
  const { at = deps.clock(), idempotency: scope } = options;
  const facts: LinkFacts = {
    host: place.host,
    domainId: place.domainId,
    accountId: by.accountId,
    via: by.via,
    keyId: by.keyId,
    custom: custom !== undefined,
    createdAt: at.toISOString(),
    longUrl: accepted.longUrl,
    ...withOptions<LinkOptions>({}, accepted.options),
  };
  const fingerprint = isSought ? fingerprintOf(facts) : null;
  for (let attempt = 0; attempt < SLUG_TRIES; attempt++) {
    const next = await slugFor(deps, facts, { custom, fingerprint, scope, attempt });
    if ("link" in next) return await existingAnswer(deps, next.link, scope);
    const link = { ...facts, slug: next.slug, shortUrl: `${place.origin}/${next.slug}` };
    try {
      return await createAt(deps, context, link, accepted, scope);
    } catch (error) {
      if (!isRefused(error, "slug_taken")) throw error;
      const present = fingerprint === null ? freeLink : await currentLink(deps.eventStore, link);
      if (fingerprint !== null && isSame(present, fingerprint))
        return await existingAnswer(deps, present, scope);
      if (custom !== undefined) throw error;
    }
  }
  throw new Failure("Failed to create the short link");
}

function refuseByTier(by: Caller, request: NewLinkRequest): void {
  if (request.customSlug !== undefined) requireDeveloper(by.tier, "Custom slugs");
  if (request.domain_id !== undefined) requireDeveloper(by.tier, "Custom domains");
  requireTierOf(request, by.tier);
}

function placeOf(deps: CreateLinkDeps, request: NewLinkRequest, account: AccountState): LinkPlace {
  if (request.domain_id === undefined) {
    if (request.customSlug !== undefined && !deps.baseHostSlugs)
      throw new Refused("custom_slug_needs_domain");
    return { host: deps.baseHost, origin: deps.baseUrl };
  }
  const domain = verifiedDomain(account, request.domain_id.toLowerCase());
  if (domain?.state !== "active") throw new Refused("invalid_domain");
  return { host: domain.hostname, origin: `https://${domain.hostname}`, domainId: domain.domainId };
}

type Naming = {
  custom: string | undefined;
  /** Null without find_existing, and with a password. */
  fingerprint: string | null;
  scope: string | undefined;
  attempt: number;
};

async function slugFor(
  deps: CreateLinkDeps,
  { host }: LinkFacts,
  { custom, fingerprint, scope, attempt }: Naming,
): Promise<{ slug: string } | { link: ExistingLink }> {
  if (custom !== undefined) return { slug: custom };
  if (fingerprint !== null) return await findExisting(deps, host, fingerprint);
  return { slug: scope === undefined ? deps.randomSlug() : deps.derivedSlug(scope, attempt) };
}

/**
 * `scope`: LinkCreated has an id derived from it, by which the store recognises what the same request appended before. The
 * answer is then what was created, without later changes.
 * @throws link_claimed, external_id_taken, invalid_request, slug_taken; StoreUnavailable when an appended link can't be
 * read back
 */
async function createAt(
  deps: CreateLinkDeps,
  context: CommandContext,
  link: LinkDetails,
  { unchecked, passwords }: AcceptedLink,
  scope: string | undefined,
): Promise<CreatedLink> {
  const { host, slug, accountId, externalId, passwordId } = link;
  const id = scope === undefined ? deps.newId() : createdId(scope, slug);
  if (passwords.length > 0) {
    // A password of a link that can't be made is not hashed.
    const first = await firstOfLink(deps, link);
    if (first && first.id !== id) throw slugTaken(host, slug);
  }
  const command = {
    ...foldedLink(host, slug),
    decide: (state: LinkState) => create(state, link),
    expectNew: true,
    eventId: () => id,
  };
  const claimant = { host, slug, accountId, token: id, isNew: true };
  const named = { unchecked, passwords, externalId };
  const { state, position } = await appendToLink(deps, context, command, claimant, named);
  const created =
    scope === undefined ? { link: state as ExistingLink, position } : await asCreated(deps, link);
  // A repeated request has made its link with the password that it kept first.
  if (passwordId !== created.link.passwordId) await forgetPassword(deps, passwordId);
  return { ...created, isNew: true };
}

function createdId(scope: string, slug: string): string {
  return derivedId("LinkCreated", scope, slug);
}

/** The link as it was created. */
async function asCreated(
  deps: CreateLinkDeps,
  address: LinkAddress,
): Promise<Appended & { link: ExistingLink }> {
  const recorded = await firstOfLink(deps, address);
  const created = recorded && readEvent(recorded);
  if (created?.type !== "LinkCreated")
    throw new StoreUnavailable(`${address.host}/${address.slug} can't be read back after it was appended`);
  return { link: evolve(freeLink, created) as ExistingLink, position: created.position };
}

/** `isNew`: where the same request made it, whose answer was lost. */
async function existingAnswer(
  deps: CreateLinkDeps,
  link: ExistingLink,
  scope: string | undefined,
): Promise<CreatedLink> {
  const created = scope === undefined ? undefined : await firstOfLink(deps, link);
  const isNew = scope !== undefined && created?.id === createdId(scope, link.slug);
  return { link, position: undefined, isNew };
}
