// Finds the link of a slug, and folds one from its own stream: slugs repeat across domains, and a new link may not be
// projected yet.
import type { CurrentAccount } from "../../commands/account/account-stream.ts";
import type { Caller } from "../../commands/caller.ts";
import type { LinkAddress } from "../../commands/links/link-stream.ts";
import { Refused } from "../../commands/refusals.ts";
import type { StoredEvent } from "../../events/catalogue.ts";
import { EventUnreadable, readableEvent } from "../../events/read-event.ts";
import { linkKey, PREFIX } from "../../events/streams.ts";
import { type LinkDocument, links } from "../../projections/definitions/links.ts";
import { isHandled } from "../../projections/projection.ts";
import type { EventStore, RecordedEvent } from "../../stores/event-store/port.ts";
import { streamPages } from "../../stores/event-store/stream-pages.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { findDomains } from "../domains.ts";

export type FindLinkDeps = { readStore: ReadStore; eventStore: EventStore; baseHost: string };
export type CurrentLinkDeps = FindLinkDeps & { currentAccount: CurrentAccount };

/** Bounds the domains that are searched for one slug. */
const MOST_CANDIDATES = 100;

/** `writesAreReadable`: read-your-writes.ts. */
export type ReadableLinkDeps = FindLinkDeps & { writesAreReadable: () => Promise<boolean> };

/**
 * For the QR route, which has no caller: the link on the given domain, else on the default domain, else the oldest one
 * with the slug, as its own stream has it. Finds disabled links, but not deleted ones. Documents are waited for only where
 * a link is not found without.
 * @throws links_behind where there may be one that the documents don't have yet
 */
export async function findLinkBySlug(
  deps: ReadableLinkDeps,
  slugAsGiven: string,
  domainId?: string,
): Promise<LinkDocument | undefined> {
  const wanted = { slug: slugAsGiven.toLowerCase(), domainId };
  const link = await anybodysLink(deps, wanted);
  if (link) return link;
  if (!(await deps.writesAreReadable())) throw new Refused("links_behind");
  return await anybodysLink(deps, wanted);
}

async function anybodysLink(
  deps: FindLinkDeps,
  { slug, domainId }: Wanted,
): Promise<LinkDocument | undefined> {
  const hosts: string[] = domainId === undefined ? [deps.baseHost] : [];
  const projected = await oldestOnDomains(deps, { slug, domainId });
  if (projected) hosts.push(projected.host);
  // A domain is projected long before its first link is created; a former owner of the hostname may have used the slug.
  const domains = domainId === undefined ? [] : await findDomains(deps, { domainId });
  const verified = domains.filter(({ state }) => state === "verified");
  hosts.push(...verified.map(({ hostname }) => hostname));
  for (const host of hosts) {
    const link = await linkFromStream(deps.eventStore, linkKey(host, slug));
    const owner = verified.find(({ hostname }) => hostname === host)?.accountId;
    if (link && !link.deleted && (owner === undefined || owner === link.accountId)) return link;
  }
  return undefined;
}

type NamedLink = { slug: string; domain_id?: string | undefined };

/**
 * The caller's link with the slug as its own stream has it: strongly consistent, as neither owner nor address of a link ever
 * change. `orDeleted`: a deleted one where no other is there. @throws forbidden, not_found
 */
export async function ownLink(
  deps: CurrentLinkDeps,
  { accountId }: Pick<Caller, "accountId">,
  named: NamedLink,
  { orDeleted = false } = {},
): Promise<LinkDocument> {
  const wanted = { slug: named.slug.toLowerCase(), domainId: named.domain_id?.toLowerCase() };
  let isTaken = false;
  let deleted: LinkDocument | undefined;
  let unreadable: unknown;
  for await (const { host, slug } of addressesOf(deps, { ...wanted, accountId })) {
    // One that can't be read may be another account's.
    const link = await linkFromStream(deps.eventStore, linkKey(host, slug)).catch((error: unknown) => {
      if (!(error instanceof EventUnreadable)) throw error;
      unreadable = error;
    });
    if (!link) continue;
    if (link.accountId !== accountId) isTaken ||= !link.deleted;
    else if (!link.deleted) return link;
    else deleted ??= link;
  }
  if (deleted && orDeleted) return deleted;
  if (deleted) throw refusal("not_found");
  if (unreadable) throw unreadable;
  // Where another account's link was found on the way to the caller's, or is projected.
  throw refusal(isTaken || (await oldestOnDomains(deps, wanted)) ? "forbidden" : "not_found");
}

/** The account's link at an address, also a deleted one; strongly consistent. @throws not_found; `others` for another account's */
export async function ownLinkAt(
  { eventStore }: Pick<FindLinkDeps, "eventStore">,
  accountId: string,
  { host, slug }: LinkAddress,
  others: "not_found" | "forbidden" = "not_found",
): Promise<LinkDocument> {
  const link = await linkFromStream(eventStore, linkKey(host, slug));
  if (link?.accountId !== accountId) throw refusal(link ? others : "not_found");
  return link;
}

function refusal(code: "not_found" | "forbidden"): Refused {
  return code === "forbidden"
    ? new Refused(code, "This link belongs to another account.")
    : new Refused(code, "Short link not found.");
}

/**
 * Where it may be: on the default domain, where the documents have it, and on those that the account has or had.
 */
async function* addressesOf(
  deps: CurrentLinkDeps,
  wanted: Wanted & { accountId: string },
): AsyncGenerator<LinkAddress> {
  const { slug, domainId, accountId } = wanted;
  if (domainId === undefined) yield { host: deps.baseHost, slug };
  const projected = await oldestOnDomains(deps, wanted, { isDeleted: true });
  if (projected) yield projected;
  const account = await deps.currentAccount(accountId);
  const domains = account.status === "open" ? account.domainIds : new Map<string, string>();
  for (const [host, id] of domains) if (domainId === undefined || domainId === id) yield { host, slug };
}

type Wanted = { slug: string; domainId?: string | undefined; accountId?: string | undefined };

/**
 * The oldest projected link on any domain but the default one. `isDeleted`: deleted ones too, where there is no
 * other.
 */
async function oldestOnDomains(
  { readStore }: FindLinkDeps,
  { slug, domainId, accountId }: Wanted,
  { isDeleted = false } = {},
): Promise<LinkDocument | undefined> {
  const of = { ...(domainId !== undefined && { domainId }), ...(accountId !== undefined && { accountId }) };
  const documents = await readStore.find<LinkDocument>(links.collection.name, {
    where: { slug, ...of, ...(!isDeleted && { deleted: false }) },
    range: { field: "domainId", from: "" },
    sort: { field: "domainId", direction: "asc" },
    limit: MOST_CANDIDATES,
  });
  return documents.sort(
    (a, b) => Number(a.deleted) - Number(b.deleted) || (a.createdAt < b.createdAt ? -1 : 1),
  )[0];
}

/**
 * By the projection's fold; strongly consistent. `key`: `<host>/<slug>` (linkKey). Undefined for no such link; finds deleted
 * links. As in the projection, events that can't be read are passed; `onRecorded` is called in order, with them too.
 * @throws StoreUnavailable, EventNewer
 */
export async function linkFromStream(
  eventStore: Pick<EventStore, "read">,
  key: string,
  onRecorded?: (recorded: RecordedEvent, event: StoredEvent | undefined) => void,
): Promise<LinkDocument | undefined> {
  let link: LinkDocument | undefined;
  for await (const page of streamPages(eventStore, `${PREFIX.link}${key}`))
    for (const recorded of page) {
      const event = readableEvent(recorded);
      onRecorded?.(recorded, event);
      if (event && isHandled(links, event))
        link = { ...links.evolve(link ?? links.empty(event), event), _id: key, _position: event.position };
    }
  return link;
}
