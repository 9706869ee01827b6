// Appends an imported link with its history, as the decider of links allows it; repeated, it finds what it appended before.
import { hash } from "node:crypto";
import type { OpenAccount } from "../commands/account/account.ts";
import type { CommandContext } from "../commands/caller.ts";
import { verifiedHosts } from "../commands/domains/domain.ts";
import { type CommandDeps, handleCommand, loadStream } from "../commands/handle-command.ts";
import { type AcceptUrlDeps, acceptUrl } from "../commands/links/accept-url.ts";
import {
  change,
  changeByOperator,
  create,
  evolve,
  freeLink,
  type LinkState,
  slugTaken,
} from "../commands/links/link.ts";
import type { LinkAddress, LinkPlace } from "../commands/links/link-stream.ts";
import { acceptImportedSlug } from "../commands/links/slug.ts";
import type { RecheckLater } from "../commands/links/url-safety.ts";
import type { LinkEvent } from "../events/catalogue.ts";
import { linkKey, linkStream } from "../events/streams.ts";
import type { LinkTarget } from "../redirect/clicks/hit.ts";
import { Refused } from "../runtime/refused.ts";
import { timeOrderedId } from "../runtime/time-ordered-id.ts";
import type { ImportedLink } from "./imported.ts";

export type ImportLinkDeps = AcceptUrlDeps & CommandDeps & { recheckLater: RecheckLater };

/** `domain`: where all links go; `keyId`: the API key that they are attributed to. */
export type ImportTarget = {
  account: OpenAccount;
  context: CommandContext;
  domain: string | undefined;
  keyId: string | undefined;
  dryRun: boolean;
};

/** By link key: slugs that differ in case alone are one here. `source`: what the file calls the link. */
export type ClaimedLinks = Map<string, { source: string; link: TargetLink }>;

/** What the link's clicks have in common. `destinations`: where it led at each of its revisions, from 0 on. */
export type TargetLink = Omit<LinkTarget, "revision" | "longUrl"> & {
  host: string;
  destinations: readonly string[];
};

/** A link as it is in the log; a folded event adds a destination. */
type History = { link: LinkState; destinations: readonly string[] };

const noHistory: History = { link: freeLink, destinations: [] };

/**
 * `claimed`: by the earlier links of this import; gets this one. `already`: it was imported before, by this import too,
 * and is left as it is now.
 * @throws record_refused, slug_taken, invalid_slug, invalid_url, unsafe_url, link_deleted, history_full; StoreUnavailable
 */
export async function importLink(
  deps: ImportLinkDeps,
  target: ImportTarget,
  claimed: ClaimedLinks,
  imported: ImportedLink,
): Promise<{ link: TargetLink; already: boolean }> {
  const place = placeOf(deps, target, imported);
  const { host } = place;
  const slug = acceptImportedSlug(imported.slug, place.domainId === undefined);
  const key = linkKey(host, slug);
  const source = `${imported.domain ?? ""}/${imported.slug}`;
  const earlier = claimed.get(key);
  if (earlier && earlier.source !== source) throw slugTaken(host, slug);
  if (earlier) return { link: earlier.link, already: true };
  const [first] = await deps.eventStore.read(linkStream(host, slug), { limit: 1 });
  if (first && !isOfImport(first.id, target.account.accountId, host, slug)) throw slugTaken(host, slug);
  const history = first
    ? (await loadStream(deps.eventStore, historyOf(host, slug))).state
    : await append(deps, target, { host, slug }, await eventsOf(deps, target, imported, place, slug));
  if (history.link.status === "free")
    throw new Refused("record_refused", `the stream of ${key} doesn't begin with its creation`);
  const { accountId, via } = history.link;
  const link = { key, host, accountId, via, destinations: history.destinations };
  claimed.set(key, { source, link });
  return { link, already: first !== undefined };
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
  if (domain !== undefined) throw new Refused("invalid_domain");
  return { host: deps.baseHost, origin: deps.baseUrl };
}

/**
 * Every destination is checked as that of a new link is. A change that its file dates before the one before it, or not at
 * all, is dated as that one: a history has an order.
 * @throws invalid_url, unsafe_url, record_refused; link_deleted for a change after a deletion, history_full
 */
async function eventsOf(
  deps: ImportLinkDeps,
  { account, keyId, dryRun }: ImportTarget,
  imported: ImportedLink,
  { host, origin, domainId }: LinkPlace,
  slug: string,
): Promise<LinkEvent[]> {
  const accept = async (url: string) => {
    const { longUrl, isChecked } = await acceptUrl(deps, url, async () => verifiedHosts(account));
    if (!isChecked && !dryRun) await deps.recheckLater({ host, slug, longUrl });
    return longUrl;
  };
  const { accountId } = account;
  const now = deps.clock().toISOString();
  const { via = keyId ? "api" : "web", custom = true, createdAt = now, changes = [] } = imported;
  const events = create(freeLink, {
    ...{ host, slug, accountId, via, custom, createdAt },
    longUrl: await accept(imported.longUrl),
    shortUrl: `${origin}/${slug}`,
    ...(keyId !== undefined && via === "api" && { keyId }),
    ...(domainId !== undefined && { domainId }),
  });
  let state = events.reduce(evolve, freeLink as LinkState);
  let latest = createdAt;
  for (const { at = latest, change: wanted } of changes) {
    if (at > latest) latest = at;
    const made =
      wanted.type === "block" || wanted.type === "unblock"
        ? changeByOperator(state, { at: latest, change: wanted })
        : change(state, {
            by: accountId,
            at: latest,
            change: wanted.type === "retarget" ? { ...wanted, to: await accept(wanted.to) } : wanted,
          });
    state = made.reduce(evolve, state);
    events.push(...made);
  }
  if (latest > now) throw new Refused("record_refused", `${latest} is in the future`);
  return events;
}

/** @throws slug_taken */
async function append(
  deps: ImportLinkDeps,
  { context, account: { accountId }, dryRun }: ImportTarget,
  { host, slug }: LinkAddress,
  events: readonly LinkEvent[],
): Promise<History> {
  if (dryRun) return events.reduce(fold, noHistory);
  const ids = events.map(({ type, data }, n) =>
    derivedTimeId(data.at, "link", accountId, host, slug, n, type),
  );
  const { state } = await handleCommand(deps, context, {
    ...historyOf(host, slug),
    decide({ link }) {
      if (link.status !== "free") throw slugTaken(host, slug);
      return events;
    },
    expectNew: true,
    eventId: (n) => ids[n] as string,
  });
  return state;
}

function historyOf(host: string, slug: string) {
  return { stream: linkStream(host, slug), initial: noHistory, fold };
}

function fold({ link, destinations }: History, event: LinkEvent): History {
  const after = evolve(link, event);
  return { link: after, destinations: after.status === "free" ? [] : [...destinations, after.longUrl] };
}
