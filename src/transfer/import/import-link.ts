// Appends an imported link with its history, as the decider of links allows it; repeated, it finds what it appended before.
import { hash } from "node:crypto";
import type { OpenAccount } from "../../commands/account/account.ts";
import type { CommandContext } from "../../commands/caller.ts";
import { verifiedHosts } from "../../commands/domains/domain.ts";
import { loadStream } from "../../commands/handle-command.ts";
import type { AcceptUrlDeps } from "../../commands/links/accept-url.ts";
import { type AppendLinkDeps, appendToLink } from "../../commands/links/append-link.ts";
import type { DeriveSlug } from "../../commands/links/derived-identity.ts";
import { linkWithExternalId } from "../../commands/links/external-ids.ts";
import {
  change,
  changeByOperator,
  create,
  evolve,
  externalIdOf,
  freeLink,
  type LinkChange,
  type LinkState,
  type OperatorChange,
  reachEnd,
  slugTaken,
} from "../../commands/links/link.ts";
import type { NewLinkPassword } from "../../commands/links/link-password.ts";
import { firstOfLink, type LinkAddress, type LinkPlace } from "../../commands/links/link-stream.ts";
import { acceptCustomSlug, acceptImportedSlug } from "../../commands/links/slug.ts";
import { isRefused, Refused } from "../../commands/refusals.ts";
import type { LinkEvent } from "../../events/catalogue.ts";
import { type LinkRule, withOptions } from "../../events/link-options.ts";
import { linkKey, linkStream } from "../../events/streams.ts";
import type { LinkTarget } from "../../redirect/clicks/hit.ts";
import { comparableUrl } from "../../runtime/addresses/comparable-url.ts";
import { Failure } from "../../runtime/errors.ts";
import { timeOrderedId } from "../../runtime/time-ordered-id.ts";
import type { Position } from "../../stores/event-store/port.ts";
import { acceptImported, fitted, type ImportedRequest } from "./accept-imported.ts";
import type { ImportedChange, ImportedLink } from "./imported.ts";

export type ImportLinkDeps = AcceptUrlDeps & AppendLinkDeps & { derivedSlug: DeriveSlug };

/**
 * `domain`: where all links go; `keyId`: the API key that they are attributed to. `byOwner`: present where the account's owner
 * imports, who chooses slugs and domains by the rules of new links; rows without a slug are one link where all of them is
 * equal, or with `isOneEachDestination` where the destination is, as in other imports.
 */
export type ImportTarget = {
  account: OpenAccount;
  context: CommandContext;
  domain: string | undefined;
  keyId: string | undefined;
  dryRun: boolean;
  byOwner?: { baseHostSlugs: boolean; isOneEachDestination: boolean };
};

/**
 * What earlier links of the import have, also while nothing is written, or no service shows what was. `links`: by
 * link key, as slugs that differ in case alone are one here, with what the file calls the link. `externalIds`:
 * with the link's key.
 */
export type ClaimedLinks = {
  links: Map<string, { source: string; longUrl: string; link: TargetLink }>;
  externalIds: Map<string, string>;
};

/** Where a link led at one of its revisions: by none of its rules, and by each. */
type Destinations = { longUrl: string; rules: readonly LinkRule[] };

/** What the link's clicks have in common. `destinations`: of each of its revisions, from 0 on. */
export type TargetLink = Omit<LinkTarget, "revision" | "longUrl" | "rule"> & {
  host: string;
  destinations: readonly Destinations[];
};

/** A link as it is in the log; a folded event adds its destinations. `position`: of what this import appended. */
type History = { link: LinkState; destinations: readonly Destinations[]; position?: Position | undefined };

const noHistory: History = { link: freeLink, destinations: [] };

/**
 * `format`: whose link it is. `claimed`: by the earlier links of this import; gets this one. `already`: it was
 * imported from the same source before, by this import too, and is left as it is now.
 * @throws Failure, slug_taken, external_id_taken, invalid_slug, invalid_url, unsafe_url, link_deleted,
 * history_full; StoreUnavailable
 */
export async function importLink(
  deps: ImportLinkDeps,
  target: ImportTarget,
  format: string,
  claimed: ClaimedLinks,
  imported: ImportedLink,
): Promise<{
  link: TargetLink;
  already: boolean;
  shortened: readonly string[];
  position?: Position | undefined;
}> {
  const place = placeOf(deps, target, imported);
  const { host } = place;
  const { slug, key, source, earlier, first, idOf } = await placed(
    deps,
    target,
    format,
    claimed,
    imported,
    place,
  );
  if (earlier?.longUrl !== undefined && comparableUrl(earlier.longUrl) !== comparableUrl(imported.longUrl))
    throw new Refused("slug_taken", `the file has ${slug} twice, with another destination`);
  if (earlier) return { link: earlier.link, already: true, shortened: [] };
  const { fields, shortened } = fitted(imported.fields ?? {});
  const appendNew = async (): Promise<History | undefined> => {
    const all = await eventsOf(deps, target, { ...imported, fields }, place, slug, idOf);
    const id = externalIdOf(all.link);
    if (id !== undefined) await refuseTakenId(deps, target, claimed, id);
    if (target.dryRun) return all.events.reduce(fold, noHistory);
    const { requestId } = target.context;
    try {
      const appended = await append(deps, target, { host, slug }, all, idOf);
      // An append of what another import has appended succeeds, too.
      const first = await firstOfLink(deps, { host, slug });
      return first?.metadata.correlationId === requestId ? appended : undefined;
    } catch (error) {
      if (!isRefused(error, "slug_taken") || !isOfSource(await firstOfLink(deps, { host, slug }), idOf))
        throw error;
      return undefined;
    }
  };
  const created = first ? undefined : await appendNew();
  const history = created ?? (await loadStream(deps.eventStore, historyOf(host, slug))).state;
  if (history.link.status === "free")
    throw new Failure(`the stream of ${key} doesn't begin with its creation`);
  const { accountId, via } = history.link;
  const link = { key, host, accountId, via, destinations: history.destinations };
  claimed.links.set(key, { source, longUrl: imported.longUrl, link });
  const externalId = externalIdOf(history.link);
  if (externalId !== undefined) claimed.externalIds.set(externalId, key);
  return {
    link,
    already: created === undefined,
    shortened: created ? shortened : [],
    position: history.position,
  };
}

/**
 * Where the link is, or will be, and what is there of its source. One without a slug takes the first of its derived ones that
 * nothing else has. @throws slug_taken, invalid_slug
 */
async function placed(
  deps: ImportLinkDeps,
  { account: { accountId }, byOwner }: ImportTarget,
  format: string,
  { links }: ClaimedLinks,
  imported: ImportedLink,
  { host, domainId }: LinkPlace,
) {
  const { longUrl, fields } = imported;
  const isEach = byOwner?.isOneEachDestination ?? true;
  const identity = isEach ? [longUrl, fields?.external_id ?? null] : [imported];
  const scope = JSON.stringify([accountId, host, ...identity]);
  for (let attempt = 1; ; attempt++) {
    const wantedSlug = imported.slug ?? deps.derivedSlug(`import ${scope}`, attempt);
    const onBaseHost = domainId === undefined;
    if (byOwner && onBaseHost && imported.slug !== undefined && !byOwner.baseHostSlugs)
      throw new Refused(
        "custom_slug_needs_domain",
        "A slug of your own needs one of your domains: name it as domain, or ask the operator of this service to set BASE_HOST_SLUGS=true",
      );
    const slug = byOwner
      ? acceptCustomSlug(wantedSlug, onBaseHost)
      : acceptImportedSlug(wantedSlug, onBaseHost);
    const key = linkKey(host, slug);
    const source = sourceOf(format, imported, wantedSlug);
    const idOf: IdOf = (at, n, type) => derivedTimeId(at, "link", accountId, source, host, slug, n, type);
    const earlier = links.get(key);
    const first = earlier ? undefined : await firstOfLink(deps, { host, slug });
    const isOthers = earlier ? earlier.source !== source : first !== undefined && !isOfSource(first, idOf);
    if (!isOthers) return { slug, key, source, earlier, first, idOf };
    if (imported.slug !== undefined) throw takenByAnother(host, slug);
  }
}

/** By what its time doesn't change, as that may be the import's own. */
function isOfSource(first: { id: string } | undefined, idOf: IdOf): boolean {
  return first?.id.slice(14) === idOf("1970-01-01T00:00:00Z", 0, "LinkCreated").slice(14);
}

/** By a link of this import, or in a dry run by one that is here. @throws external_id_taken */
async function refuseTakenId(
  deps: ImportLinkDeps,
  { account, dryRun }: ImportTarget,
  { externalIds }: ClaimedLinks,
  id: string,
): Promise<void> {
  const here = dryRun ? await linkWithExternalId(deps, account.accountId, id) : undefined;
  const holder = externalIds.get(id) ?? (here && linkKey(here.host, here.slug));
  if (holder !== undefined)
    throw new Refused("external_id_taken", `external_id: ${JSON.stringify(id)} is that of ${holder}`);
}

/** Sorts by time, as ids of the log do; the same for the same parts. */
export function derivedTimeId(at: string, ...parts: readonly (string | number)[]): string {
  return timeOrderedId(Date.parse(at), hash("sha256", JSON.stringify(parts)).slice(0, 20));
}

/**
 * Names the link at its source, so that another link that wants the same slug here is not taken for it. Where
 * files don't say which host served it, it is told from those of other instances by when it was made.
 */
function sourceOf(format: string, { domain, site, createdAt }: ImportedLink, slug: string): string {
  return JSON.stringify([format, domain ?? site ?? createdAt?.slice(0, 19) ?? "", slug]);
}

function takenByAnother(host: string, slug: string): Refused {
  const { message } = slugTaken(host, slug);
  return new Refused("slug_taken", `${message}: made here, or imported as another link`);
}

/**
 * To `--domain`, else to the account's own domain of that name; to the base host where the file names none, or that one.
 * @throws invalid_domain
 */
function placeOf(
  { baseHost, baseUrl }: ImportLinkDeps,
  { account, domain, byOwner }: ImportTarget,
  imported: ImportedLink,
): LinkPlace {
  const hostname = domain ?? imported.domain ?? baseHost;
  if (hostname === baseHost) return { host: baseHost, origin: baseUrl };
  const own = account.domains.get(hostname);
  if (own?.state === "active")
    return { host: own.hostname, origin: `https://${own.hostname}`, domainId: own.domainId };
  const elsewhere = byOwner ? "" : `, or say by --domain where all links go, such as ${baseHost}`;
  throw new Refused(
    "invalid_domain",
    `${hostname} is no active domain of the account: add and verify it first${elsewhere}`,
  );
}

type IdOf = (at: string, n: number, type: string) => string;

/**
 * Every destination is checked as that of a new link is. A change that its file dates before the one before it, or not at
 * all, is dated as that one: a history has an order.
 * @throws invalid_url, unsafe_url, Failure; link_deleted for a change after a deletion, history_full;
 * invalid_request
 */
async function eventsOf(
  deps: ImportLinkDeps,
  { account, keyId }: ImportTarget,
  imported: ImportedLink,
  { host, origin, domainId }: LinkPlace,
  slug: string,
  idOf: IdOf,
): Promise<LinkToAppend> {
  const unchecked: string[] = [];
  const passwords: NewLinkPassword[] = [];
  const accept = async <Request extends ImportedRequest>(fields: Request, n: number) => {
    const newId = () => idOf(createdAt, n, "password");
    const accepted = await acceptImported({ ...deps, newId }, fields, verifiedHosts(account));
    unchecked.push(...accepted.unchecked);
    passwords.push(...accepted.passwords);
    return accepted;
  };
  const { accountId } = account;
  const now = deps.clock().toISOString();
  const {
    via = keyId ? "api" : "web",
    custom = imported.slug !== undefined,
    createdAt = now,
    changes = [],
  } = imported;
  const { longUrl, options } = await accept({ url: imported.longUrl, ...imported.fields }, 0);
  const events = create(freeLink, {
    host,
    slug,
    accountId,
    via,
    custom,
    createdAt,
    longUrl,
    shortUrl: `${origin}/${slug}`,
    ...(keyId !== undefined && via === "api" && { keyId }),
    ...(domainId !== undefined && { domainId }),
    ...withOptions({}, options),
  });
  let state = events.reduce(evolve, freeLink as LinkState);
  let latest = createdAt;
  for (const [n, { at = latest, change: wanted }] of changes.entries()) {
    if (at > latest) latest = at;
    const made =
      wanted.type === "reach-end"
        ? reachEnd(state, { at: latest, people: wanted.people })
        : wanted.type === "block" || wanted.type === "unblock"
          ? changeByOperator(state, { at: latest, change: wanted })
          : change(state, { by: accountId, at: latest, change: await accepted(wanted, n + 1) });
    state = made.reduce(evolve, state);
    events.push(...made);
  }
  if (latest > now) throw new Failure(`${latest} is in the future`);
  return { link: state, events, unchecked, passwords };

  async function accepted(
    wanted: Exclude<ImportedChange["change"], OperatorChange | { type: "reach-end" }>,
    n: number,
  ): Promise<LinkChange> {
    if (wanted.type === "retarget") return { ...wanted, to: (await accept({ url: wanted.to }, n)).longUrl };
    if (wanted.type !== "set") return wanted;
    return { type: "set", options: (await accept(wanted.fields, n)).options, keepsRuleIds: true };
  }
}

/**
 * `link`: as its events make it. `passwords` and `unchecked` destinations are kept before the events that
 * name them.
 */
type LinkToAppend = {
  link: LinkState;
  events: LinkEvent[];
  unchecked: string[];
  passwords: NewLinkPassword[];
};

/** @throws slug_taken */
async function append(
  deps: ImportLinkDeps,
  { account: { accountId }, context }: ImportTarget,
  { host, slug }: LinkAddress,
  { link, events, unchecked, passwords }: LinkToAppend,
  idOf: IdOf,
): Promise<History> {
  const ids = events.map(({ type, data }, n) => idOf(data.at, n, type));
  const command = {
    ...historyOf(host, slug),
    decide(present: History) {
      if (present.link.status !== "free") throw takenByAnother(host, slug);
      return events;
    },
    expectNew: true,
    eventId: (n: number) => ids[n] as string,
  };
  const claimant = { host, slug, accountId, token: deps.newId(), isNew: true };
  const named = { unchecked, passwords, externalId: externalIdOf(link), isRepeated: true };
  const { state, position } = await appendToLink(deps, context, command, claimant, named);
  return { ...state, position };
}

function historyOf(host: string, slug: string) {
  return { stream: linkStream(host, slug), initial: noHistory, fold };
}

function fold({ link, destinations }: History, event: LinkEvent): History {
  const after = evolve(link, event);
  if (after.status === "free") return { link: after, destinations: [] };
  const { longUrl, rules = [] } = after;
  return { link: after, destinations: [...destinations, { longUrl, rules }] };
}
