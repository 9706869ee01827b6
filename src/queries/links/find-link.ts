// Finds the link of a slug: slugs repeat across domains, and a new link may not be projected yet.
import type { Caller } from "../../commands/caller.ts";
import type { EventStore } from "../../event-store/port.ts";
import { linkKey } from "../../events/streams.ts";
import { type DomainDocument, domains } from "../../projections/definitions/domains.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import type { Document, FindQuery, ReadStore } from "../../read-store/port.ts";
import { Forbidden, NotFound } from "../errors.ts";
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
  if (domainId !== undefined) {
    const [onDomain] = await findLinks(deps, { slug, domainId }, 1);
    return onDomain ?? (await notYetProjected(deps, slug, await hostsOf(deps, { domainId })));
  }
  const known = await deps.readStore.get<LinkDocument>(links.collection.name, linkKey(deps.baseHost, slug));
  if (known && !known.deleted) return known;
  const candidates = await findLinks(deps, { slug }, MOST_CANDIDATES);
  return preferred(candidates, deps.baseHost) ?? (await notYetProjected(deps, slug, [deps.baseHost]));
}

/**
 * The caller's link with the slug: on the given domain, else on the default domain first (DESIGN §7).
 * Links of all keys of the account are the caller's (interface, part 4).
 * @throws Forbidden when only another account has such a link, NotFound when none has
 */
export async function findOwnLink(
  deps: FindLinkDeps,
  caller: Pick<Caller, "accountId">,
  slugAsGiven: string,
  domainId?: string,
): Promise<LinkDocument> {
  const slug = slugAsGiven.toLowerCase();
  const { accountId } = caller;
  const where = domainId === undefined ? { slug } : { slug, domainId };
  const own = preferred(await findLinks(deps, { ...where, accountId }, MOST_CANDIDATES), deps.baseHost);
  if (own) return own;
  const [foreign] = await findLinks(deps, where, 1);
  const hosts = await hostsOf(deps, domainId === undefined ? { accountId } : { domainId });
  const made = await notYetProjected(deps, slug, domainId === undefined ? [deps.baseHost, ...hosts] : hosts);
  if (made?.accountId === accountId) return made;
  if (foreign ?? made) throw new Forbidden("This link belongs to another account.");
  throw new NotFound("Short link not found.");
}

async function findLinks(
  { readStore }: FindLinkDeps,
  where: NonNullable<FindQuery["where"]>,
  limit: number,
): Promise<LinkDocument[]> {
  return await readStore.find<LinkDocument>(links.collection.name, {
    where: { ...where, deleted: false },
    limit,
  });
}

function preferred(candidates: readonly LinkDocument[], baseHost: string): LinkDocument | undefined {
  const byAge = [...candidates].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  return byAge.find(({ host }) => host === baseHost) ?? byAge[0];
}

/** Hosts of verified domains, from the read store: a domain is projected long before its first link is created. */
async function hostsOf(
  { readStore }: FindLinkDeps,
  where: { domainId: string } | { accountId: string },
): Promise<string[]> {
  const found = await readStore.find<DomainDocument>(domains.collection.name, {
    where,
    limit: MOST_CANDIDATES,
  });
  return found.filter(({ state }) => state === "verified").map(({ hostname }) => hostname);
}

/** From the link's own stream, for links that are not projected yet, such as right after their 201. */
async function notYetProjected(
  { readStore, eventStore }: FindLinkDeps,
  slug: string,
  hosts: readonly string[],
): Promise<LinkDocument | undefined> {
  for (const host of hosts) {
    const key = linkKey(host, slug);
    // A projected link was already found, or excluded, by the query above.
    if (await readStore.get<Document>(links.collection.name, key)) continue;
    const link = await linkFromStream(eventStore, key);
    if (link && !link.deleted) return link;
  }
  return undefined;
}
