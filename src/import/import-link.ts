// Appends an imported link with its history, at the times of the file; repeated, it finds what it appended before.
import { hash } from "node:crypto";
import type { OpenAccount } from "../commands/account/account.ts";
import type { CommandContext } from "../commands/caller.ts";
import { verifiedHosts } from "../commands/domains/domain.ts";
import { type AcceptUrlDeps, acceptUrl } from "../commands/links/accept-url.ts";
import type { LinkPlace } from "../commands/links/append-link.ts";
import { evolve, freeLink, type LinkState } from "../commands/links/link.ts";
import { InvalidDomain, SlugTaken } from "../commands/links/link-errors.ts";
import { acceptImportedSlug } from "../commands/links/slug.ts";
import type { RecheckLater } from "../commands/links/url-rechecks.ts";
import type { EventStore } from "../event-store/port.ts";
import type { EventOf, LinkEvent } from "../events/catalogue.ts";
import { newEvent } from "../events/new-event.ts";
import { linkKey, linkStream } from "../events/streams.ts";
import { timeOrderedId } from "../runtime/time-ordered-id.ts";
import { type ImportedLink, RecordRefused } from "./imported.ts";

export type ImportLinkDeps = AcceptUrlDeps & {
  eventStore: EventStore;
  clock: () => Date;
  recheckLater: RecheckLater;
};

/** `domain`: where all links go; `keyId`: the API key that they are attributed to. */
export type ImportTarget = {
  account: OpenAccount;
  context: CommandContext;
  domain: string | undefined;
  keyId: string | undefined;
  dryRun: boolean;
};

/** By link key, the slug of the file that went there: slugs that differ in case alone are one here. */
export type ClaimedLinks = Map<string, string>;

/** What the link's clicks have in common. */
export type TargetLink = Pick<EventOf<"LinkClicked">["data"], "link" | "longUrl" | "accountId" | "via"> & {
  host: string;
};

/**
 * `claimed`: by the earlier links of this import; gets this one. `already`: it was imported before, and is left as it is
 * now.
 * @throws RecordRefused, SlugTaken, InvalidSlug, InvalidUrl, UnsafeUrl; StoreUnavailable
 */
export async function importLink(
  deps: ImportLinkDeps,
  target: ImportTarget,
  claimed: ClaimedLinks,
  imported: ImportedLink,
): Promise<{ link: TargetLink; already: boolean }> {
  const place = placeOf(deps, target, imported);
  const slug = acceptImportedSlug(imported.slug, place.domainId === undefined);
  const events = await eventsOf(deps, target, imported, place, slug);
  const { accountId } = target.account;
  const ids = events.map(({ type, data }, index) =>
    derivedTimeId(data.at, "link", accountId, place.host, slug, index, type),
  );
  const created = (events[0] as EventOf<"LinkCreated">).data;
  const link = {
    link: linkKey(place.host, slug),
    host: place.host,
    ...{ longUrl: lastUrl(events), accountId, via: created.via },
  };
  const source = `${imported.domain ?? ""}/${imported.slug}`;
  if ((claimed.get(link.link) ?? source) !== source) throw new SlugTaken(place.host, slug);
  claimed.set(link.link, source);
  const [first] = await deps.eventStore.read(linkStream(place.host, slug), { limit: 1 });
  if (first && !isOfImport(first.id, accountId, place.host, slug)) throw new SlugTaken(place.host, slug);
  if (first || target.dryRun) return { link, already: first !== undefined };
  const { requestId, actor } = target.context;
  const origin = { correlationId: requestId, causationId: requestId, actor };
  const stamped = events.map((event, index) => newEvent(event, ids[index] as string, origin));
  await deps.eventStore.append(linkStream(place.host, slug), "none", stamped);
  return { link, already: false };
}

/** Sorts by time, as ids of the log do; the same for the same parts. */
export function derivedTimeId(at: string, ...parts: readonly (string | number)[]): string {
  return timeOrderedId(Date.parse(at), hash("sha256", JSON.stringify(parts)).slice(0, 20));
}

/** The id of an imported LinkCreated ends in digits that its time doesn't change, as that may be the import's own. */
function isOfImport(id: string, accountId: string, host: string, slug: string): boolean {
  const derived = derivedTimeId("1970-01-01T00:00:00Z", "link", accountId, host, slug, 0, "LinkCreated");
  return id.slice(14) === derived.slice(14);
}

/** To `--domain`, else to the account's own domain of that name, else to the base host. */
function placeOf(
  deps: ImportLinkDeps,
  { account, domain }: ImportTarget,
  imported: ImportedLink,
): LinkPlace & { domainId?: string } {
  const hostname = domain ?? imported.domain;
  const own = hostname === undefined ? undefined : account.domains.get(hostname);
  if (own?.state === "active")
    return { host: own.hostname, origin: `https://${own.hostname}`, domainId: own.domainId };
  if (domain !== undefined) throw new InvalidDomain();
  return { host: deps.baseHost, origin: deps.baseUrl };
}

async function eventsOf(
  deps: ImportLinkDeps,
  { account, keyId, dryRun }: ImportTarget,
  imported: ImportedLink,
  place: LinkPlace,
  slug: string,
): Promise<LinkEvent[]> {
  const now = deps.clock().toISOString();
  const { createdAt = now, changes, custom = true } = imported;
  const via = imported.via ?? (keyId ? "api" : "web");
  const accept = async (url: string) => {
    const accepted = await acceptUrl(deps, url, async () => verifiedHosts(account));
    if (!accepted.isChecked && !dryRun)
      await deps.recheckLater({ host: place.host, slug, longUrl: accepted.longUrl });
    return accepted.longUrl;
  };
  const of = { host: place.host, slug, accountId: account.accountId };
  const events: LinkEvent[] = [
    {
      type: "LinkCreated",
      data: {
        ...of,
        at: createdAt,
        longUrl: await accept(imported.longUrl),
        shortUrl: `${place.origin}/${slug}`,
        ...{ via, custom },
        ...(keyId !== undefined && via === "api" && { keyId }),
        ...(place.domainId !== undefined && { domainId: place.domainId }),
      },
    },
  ];
  for (const { type, at, ...rest } of changes)
    if ("to" in rest) {
      const [from, to] = [lastUrl(events), await accept(rest.to)];
      events.push({ type: "LinkRetargeted", data: { ...of, at, from, to } });
    } else events.push({ type, data: { ...of, at } } as LinkEvent);
  for (const { data } of events) if (data.at > now) throw new RecordRefused(`${data.at} is in the future`);
  return events;
}

function lastUrl(events: readonly LinkEvent[]): string {
  const link = events.reduce<LinkState>(evolve, freeLink);
  return link.status === "free" ? "" : link.longUrl;
}
