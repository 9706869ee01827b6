// Changes an existing link: its owner changes what it says, disables, enables, deletes and restores it.
import type { LinkEvent } from "../../events/catalogue.ts";
import { destinationsOf, type LinkOptions, withOptions } from "../../events/link-options.ts";
import type { Position } from "../../stores/event-store/port.ts";
import { type AccountState, opened } from "../account/account.ts";

import type { Caller, CommandContext } from "../caller.ts";
import { verifiedHosts } from "../domains/decide-domain.ts";
import { type CommandDeps, loadStream } from "../handle-command.ts";
import { Refused } from "../refusals.ts";
import { type AcceptedLink, acceptFields, refusePastEnd, requireTierOf } from "./accept-fields.ts";
import { appendToLink } from "./append-link.ts";
import type { CreateLinkDeps } from "./create-link.ts";
import { derivedId } from "./derived-identity.ts";
import type { LinkFields } from "./fields/link-fields.ts";
import {
  change,
  changeable,
  changeTogether,
  type ExistingLink,
  existing,
  externalIdOf,
  type LinkChange,
  type LinkState,
  refuseOther,
} from "./link.ts";
import { forgetPassword } from "./link-password.ts";
import { type ChangedLink, foldedLink, type LinkAddress, onLink } from "./link-stream.ts";

/** Fields that are absent stay as they are; those that a link can carry are cleared by null. */
export type LinkPatch = LinkFields & { url?: string | undefined; disabled?: boolean | undefined };

/** `patch` of a restore: what the link gets with it, such as another external id where its own is another link's by now. */
export type LinkChangeRequest =
  | { type: "patch"; patch: LinkPatch }
  | { type: "restore"; patch?: LinkPatch }
  | { type: "disable" | "enable" | "delete" };

/**
 * `ifRevision`: of the link's stream, those that the caller accepts. `idempotency`: a scope; a request that is repeated with the
 * same one is answered with what it has made of the link. `isExisting`: a deleted link can only be restored, else it is not
 * found. `account`: the caller's, when it is loaded already (bulk requests).
 */
export type ChangeOptions = {
  ifRevision?: readonly number[] | undefined;
  idempotency?: string | undefined;
  isExisting?: boolean;
  account?: AccountState;
};

/**
 * Changes a link as one append, whose events are all or none in the log. URLs are checked like those of a new
 * link, and all of them again when a link is enabled or restored. Looks first whether the link can be changed so
 * by this account, then at the URLs: their check asks a remote service.
 * @throws of several faults the first in this order: account_not_found for a closed account, link_not_found, not_found,
 * link_not_yours, link_blocked, link_deleted, precondition_failed, tier_required, invalid_url,
 * unsafe_url, link_claimed, external_id_taken, invalid_request for fields that contradict each other, history_full
 */
export async function changeLink(
  deps: CreateLinkDeps,
  context: CommandContext,
  by: Caller,
  { host, slug }: LinkAddress,
  request: LinkChangeRequest,
  options: ChangeOptions = {},
): Promise<ChangedLink> {
  const { ifRevision, idempotency: scope } = options;
  const { accountId } = by;
  const account = options.account ?? opened(await deps.currentAccount(by.accountId));
  const command = repeatableChange({ host, slug }, scope);
  const loaded = await loadStream(deps.eventStore, command);
  if (loaded.state.made) return loaded.state.made;
  const link = changeableBy(by, existing(loaded.state.link), request, options);
  const accepted = await acceptedChanges(deps, by, account, link, request);
  const externalId = newExternalId(link, accepted.changes);
  const wanted = { by: accountId, at: deps.clock().toISOString(), changes: accepted.changes, ifRevision };
  const decide = (now: RepeatableLink) => decideChanges(now, wanted, externalId);
  const token = scope === undefined ? deps.newId() : derivedId("claim", scope);
  const claimant = { host, slug, accountId, token, isNew: false };
  const named = { ...accepted, externalId };
  const result = await appendToLink(deps, context, { ...command, loaded, decide }, claimant, named);
  // The store takes the events of the same request, sent twice at once, for one: as it has them.
  const isRepeatable = scope !== undefined && result.events.length > 0;
  const { made } = isRepeatable ? (await loadStream(deps.eventStore, command)).state : result.state;
  const changed = made ?? { link: existing(result.state.link), position: result.position };
  const replaced = result.before.made ? link : existing(result.before.link);
  const passwordIds = [replaced.passwordId, ...accepted.passwords.map(({ passwordId }) => passwordId)];
  for (const id of passwordIds) if (id !== changed.link.passwordId) await forgetPassword(deps, id);
  return changed;
}

/** @throws as changeLink does before it looks at what the request says */
function changeableBy(
  { accountId }: Caller,
  link: ExistingLink,
  request: LinkChangeRequest,
  { ifRevision, isExisting }: ChangeOptions,
): ExistingLink {
  const isGone = link.deleted && request.type !== "restore";
  // A change of one's own deleted link is told that it is deleted, and can be restored.
  const isHidden = isGone && (request.type === "delete" || link.accountId !== accountId);
  if (isExisting && isHidden) throw new Refused("not_found", "Short link not found.");
  changeable(link, accountId, firstOf(request));
  if (ifRevision !== undefined) refuseOther(link, ifRevision);
  return link;
}

/** The most events that one request comes to (LinkChangeRequest). */
const MOST_EVENTS = 4;

/** `made`: what the same request has made of the link before, without later changes. */
type RepeatableLink = { link: LinkState; made?: ChangedLink };

/** The ids of its events are derived from the scope, by which those that it appended before are known. */
function repeatableChange({ host, slug }: LinkAddress, scope: string | undefined) {
  const { stream, initial: link, fold } = foldedLink(host, slug);
  const initial: RepeatableLink = { link };
  const ids =
    scope === undefined ? [] : Array.from({ length: MOST_EVENTS }, (_, n) => derivedId("change", scope, n));
  return {
    stream,
    initial,
    fold({ link, made }: RepeatableLink, event: LinkEvent & { id?: string; position?: Position }) {
      const next = fold(link, event);
      const isOfRequest = event.id !== undefined && ids.includes(event.id);
      const changed = isOfRequest ? { link: existing(next), position: event.position } : made;
      return { link: next, ...(changed && { made: changed }) };
    },
    ...(scope !== undefined && { eventId: (n: number) => ids[n] as string }),
  };
}

/** `claimed`: the external id of which another link can't be given at present. @throws link_claimed; what changeTogether throws */
function decideChanges(
  { link, made }: RepeatableLink,
  wanted: Parameters<typeof changeTogether>[1],
  claimed: string | undefined,
): LinkEvent[] {
  if (made) return [];
  const events = changeTogether(link, wanted);
  // Another request has changed in between what had to be claimed.
  const externalId = newExternalId(existing(link), wanted.changes);
  if (externalId !== undefined && externalId !== claimed) throw new Refused("link_claimed");
  return events;
}

/** Applies a change whose URL is already accepted. @throws what the decider `change` throws */
export async function applyLinkChange(
  deps: CommandDeps,
  context: CommandContext,
  by: string,
  address: LinkAddress,
  wanted: LinkChange,
): Promise<ChangedLink> {
  const changed = await onLink(deps, context, address, (link, at) =>
    change(link, { by, at, change: wanted }),
  );
  return { ...changed, link: existing(changed.link) };
}

/** By what `changeable` judges the whole request. */
function firstOf(request: LinkChangeRequest): LinkChange["type"] {
  if (request.type !== "patch") return request.type;
  const { disabled, ...others } = request.patch;
  return disabled === true && Object.keys(others).length === 0 ? "disable" : "set";
}

/** The external id that the link has after the changes and not before: a deleted one has none. */
function newExternalId(before: ExistingLink, changes: readonly LinkChange[]): string | undefined {
  let [had, has] = [externalIdOf(before), before.externalId];
  for (const change of changes) {
    if (change.type === "set" && change.options.externalId !== undefined)
      has = change.options.externalId ?? undefined;
    if (change.type === "delete") [had, has] = [undefined, undefined];
  }
  return has === had ? undefined : has;
}

/** The changes that the request comes to, in the order in which they are applied, and what is kept before they are. */
async function acceptedChanges(
  deps: CreateLinkDeps,
  by: Caller,
  account: AccountState,
  link: ExistingLink,
  request: LinkChangeRequest,
): Promise<Pick<AcceptedLink, "unchecked" | "passwords"> & { changes: LinkChange[] }> {
  const { disabled, ...fields } = "patch" in request && request.patch ? request.patch : {};
  requireTierOf(fields, by.tier);
  refusePastEnd(fields, deps.clock(), link.expiresAt);
  const { longUrl, options, unchecked, passwords } = await acceptFields(deps, fields, verifiedHosts(account));
  const { type } = request;
  if (type === "restore" || type === "enable" || disabled === false) {
    const next = { ...withOptions(link, options), longUrl: longUrl ?? link.longUrl };
    unchecked.push(...(await uncheckedOf(deps, next)));
  }
  const changes: LinkChange[] = type === "patch" ? [] : [{ type }];
  if (longUrl !== undefined) changes.push({ type: "retarget", to: longUrl });
  if (Object.keys(options).length > 0) changes.push({ type: "set", options });
  if (disabled !== undefined) changes.push({ type: disabled ? "disable" : "enable" });
  return { changes, unchecked, passwords };
}

/** A destination may have become known as unsafe since it was accepted. @throws unsafe_url */
async function uncheckedOf(
  { urlSafety }: CreateLinkDeps,
  link: LinkOptions & { longUrl: string },
): Promise<string[]> {
  const urls = destinationsOf(link);
  const safety = await urlSafety(urls.map((url) => new URL(url)));
  if (safety.includes("unsafe")) throw new Refused("unsafe_url");
  return urls.filter((_, n) => safety[n] !== "safe");
}
