// Finds the link of a slug: slugs repeat across domains, and a new link may not be projected yet.
import type { Caller } from "../../commands/caller.ts";
import type { EventStore } from "../../event-store/port.ts";
import { linkKey } from "../../events/streams.ts";
import { type DomainDocument, domains } from "../../projections/definitions/domains.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import type { ReadStore } from "../../read-store/port.ts";
import { Refused } from "../../runtime/refused.ts";
import { linkFromStream } from "./link-from-stream.ts";

export type FindLinkDeps = { readStore: ReadStore; eventStore: EventStore; baseHost: string };

/** Bounds the domains that are searched for one slug. */
const MOST_CANDIDATES = 100;

/**
 * For the QR route, which has no caller: the link on the given domain, else on the default domain, else the oldest one
 * with the slug. Finds disabled links, but not deleted ones.
 */
export async function findLinkBySlug(
  deps: FindLinkDeps,
  slugAsGiven: string,
  domainId?: string,
): Promise<LinkDocument | undefined> {
  const slug = slugAsGiven.toLowerCase();
  if (domainId === undefined)
    return (await linkOn(deps, [deps.baseHost], slug)) ?? (await oldestOnDomains(deps, { slug }));
  const onDomain = await oldestOnDomains(deps, { slug, domainId });
  if (onDomain) return onDomain;
  const [domain] = await domainsOf(deps, { domainId });
  const onHost = domain && (await linkOn(deps, [domain.hostname], slug));
  // A former owner of the hostname may have used the slug.
  return onHost?.accountId === domain?.accountId ? onHost : undefined;
}

/**
 * The caller's link with the slug: on the given domain, else on the default domain first.
 * Links of all keys of the account are the caller's (interface, part 4).
 * @throws forbidden when only another account has such a link, not_found when none has
 */
export async function findOwnLink(
  deps: FindLinkDeps,
  { accountId }: Pick<Caller, "accountId">,
  slugAsGiven: string,
  domainId?: string,
): Promise<LinkDocument> {
  const slug = slugAsGiven.toLowerCase();
  const where = domainId === undefined ? { slug } : { slug, domainId };
  const onBase = domainId === undefined ? await linkOn(deps, [deps.baseHost], slug) : undefined;
  if (onBase?.accountId === accountId) return onBase;
  const onDomain = await oldestOnDomains(deps, { ...where, accountId });
  if (onDomain) return onDomain;
  const own = await domainsOf(deps, domainId === undefined ? { accountId } : { domainId });
  const hosts = own.map(({ hostname }) => hostname);
  const onHost = await linkOn(deps, hosts, slug);
  if (onHost?.accountId === accountId) return onHost;
  if (onBase ?? onHost ?? (await oldestOnDomains(deps, where)))
    throw new Refused("forbidden", "This link belongs to another account.");
  throw new Refused("not_found", "Short link not found.");
}

/** Of those that are projected, on any domain but the default one. */
async function oldestOnDomains(
  { readStore }: FindLinkDeps,
  where: { slug: string; domainId?: string; accountId?: string },
): Promise<LinkDocument | undefined> {
  const found = await readStore.find<LinkDocument>(links.collection.name, {
    where: { ...where, deleted: false },
    range: { field: "domainId", from: "" },
    limit: MOST_CANDIDATES,
  });
  return found.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1))[0];
}

/** Verified domains, from the read store: a domain is projected long before its first link is created. */
async function domainsOf(
  { readStore }: FindLinkDeps,
  where: { domainId: string } | { accountId: string },
): Promise<DomainDocument[]> {
  const found = await readStore.find<DomainDocument>(domains.collection.name, {
    where,
    limit: MOST_CANDIDATES,
  });
  return found.filter(({ state }) => state === "verified");
}

/** On the first of the hosts that has one; from its stream where it isn't projected yet, such as right after its 201. */
async function linkOn(
  { readStore, eventStore }: FindLinkDeps,
  hosts: readonly string[],
  slug: string,
): Promise<LinkDocument | undefined> {
  for (const host of hosts) {
    const key = linkKey(host, slug);
    const projected = await readStore.get<LinkDocument>(links.collection.name, key);
    const link = projected ?? (await linkFromStream(eventStore, key));
    if (link && !link.deleted) return link;
  }
  return undefined;
}
