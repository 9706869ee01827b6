// Appends an imported link with its history, as the decider of links allows it; repeated, it finds what it appended before.
import { verifiedHosts } from "../../commands/domains/decide-domain.ts";
import { loadStream } from "../../commands/handle-command.ts";
import { appendToLink } from "../../commands/links/append-link.ts";
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
} from "../../commands/links/link.ts";
import type { NewLinkPassword } from "../../commands/links/link-password.ts";
import { firstOfLink, type LinkAddress, type LinkPlace } from "../../commands/links/link-stream.ts";
import { isRefused, Refused } from "../../commands/refusals.ts";
import type { LinkEvent } from "../../events/catalogue.ts";
import { withOptions } from "../../events/link-options.ts";
import { linkKey, linkStream } from "../../events/streams.ts";
import { comparableUrl } from "../../runtime/addresses/comparable-url.ts";
import { Failure } from "../../runtime/errors.ts";
import type { Position } from "../../stores/event-store/port.ts";
import { acceptImported, fitted, type ImportedRequest } from "./accept-imported.ts";
import type { ImportedChange, ImportedLink } from "./imported.ts";
import {
  type ClaimedLinks,
  type IdOf,
  type ImportLinkDeps,
  type ImportTarget,
  isOfSource,
  placeImported,
  type TargetLink,
  takenByAnother,
} from "./place-imported.ts";

/** A link as it is in the log; a folded event adds its destinations. `position`: of what this import appended. */
type History = { link: LinkState; destinations: TargetLink["destinations"]; position?: Position | undefined };

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
  const { place, slug, key, source, earlier, first, idOf } = await placeImported(
    deps,
    target,
    format,
    claimed,
    imported,
  );
  const { host } = place;
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
    const appended =
      wanted.type === "reach-end"
        ? reachEnd(state, { at: latest, people: wanted.people })
        : wanted.type === "block" || wanted.type === "unblock"
          ? changeByOperator(state, { at: latest, change: wanted })
          : change(state, { by: accountId, at: latest, change: await accepted(wanted, n + 1) });
    state = appended.reduce(evolve, state);
    events.push(...appended);
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
