// Changes an existing link: its owner changes what it says, disables, enables, deletes and restores it; the
// operator blocks an abusive one, whatever its owner does, and lets it go again.
import { destinationsOf, type LinkOptions, withOptions } from "../../events/link-options.ts";
import { acceptReason } from "../accept-text.ts";
import type { AccountState } from "../account/account.ts";
import { callersAccount } from "../account/accounts.ts";
import type { Caller, CommandContext } from "../caller.ts";
import { verifiedHosts } from "../domains/domain.ts";
import {
  type Appended,
  type CommandDeps,
  handleCommand,
  isNotAppended,
  loadStream,
} from "../handle-command.ts";
import { Refused } from "../refusals.ts";
import { type AcceptedLink, acceptFields, refusePastEnd, requireTierOf } from "./accept-fields.ts";
import type { CreateLinkDeps } from "./create-link.ts";
import { derivedId } from "./derived-identity.ts";
import { withExternalId } from "./external-ids.ts";
import type { LinkFields } from "./fields/link-fields.ts";
import {
  change,
  changeable,
  changeByOperator,
  changeTogether,
  type ExistingLink,
  type LinkChange,
  type OperatorChange,
  refuseOther,
} from "./link.ts";
import { forgetPassword, keepLinkPassword } from "./link-password.ts";
import {
  type ChangedLink,
  type LinkAddress,
  type LoadedLink,
  loadedLink,
  onLink,
  type RepeatableLink,
} from "./link-stream.ts";

/** Fields that are absent stay as they are; those that a link can carry are cleared by null. */
export type LinkPatch = LinkFields & { url?: string | undefined; disabled?: boolean | undefined };

/** `patch` of a restore: what the link gets with it, such as another external id where its own is another link's by now. */
export type LinkChangeRequest =
  | { type: "patch"; patch: LinkPatch }
  | { type: "restore"; patch?: LinkPatch }
  | { type: "disable" | "enable" | "delete" };

/**
 * `ifRevision`: of the link's stream, those that the caller accepts. `idempotency`: a scope, where the link is not loaded
 * yet; a request that is repeated with the same one is answered with what it has made of the link. `isExisting`: a deleted link can only be restored,
 * else it is not found. `account`: the caller's, when it is loaded already (bulk requests).
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
 * @throws of several faults the first in this order: account_not_found for a closed account, not_found,
 * link_not_found, link_not_yours, link_blocked, link_deleted, precondition_failed, tier_required, invalid_url,
 * unsafe_url, link_claimed, external_id_taken, invalid_request for fields that contradict each other, history_full
 */
export async function changeLink(
  deps: CreateLinkDeps,
  context: CommandContext,
  by: Caller,
  address: LinkAddress | LoadedLink,
  request: LinkChangeRequest,
  options: ChangeOptions = {},
): Promise<ChangedLink> {
  const { ifRevision, isExisting } = options;
  const account = options.account ?? (await callersAccount(deps, by));
  const { accountId } = by;
  const target = "command" in address ? address : await loadedLink(deps, address, options.idempotency);
  if (!target) throw new Refused("link_not_found");
  const { host, slug, scope, command } = target;
  const { link: before, made } = command.loaded.state;
  if (made) return made;
  const isGone = before.status === "deleted" && request.type !== "restore";
  // A change of one's own deleted link is told that it is deleted, and can be restored.
  const isHidden = isGone && (request.type === "delete" || before.accountId !== accountId);
  if (isExisting && isHidden) throw new Refused("not_found", "Short link not found.");
  const link = changeable(before, accountId, firstOf(request));
  if (ifRevision !== undefined) refuseOther(link, ifRevision);
  const { changes, unchecked, passwords } = await acceptedChanges(deps, by, account, link, request);
  for (const longUrl of unchecked) await deps.recheckLater({ host, slug, longUrl });
  for (const password of passwords) await keepLinkPassword(deps, password);
  const externalId = newExternalId(link, changes);
  const newPassword = changes.find((change) => change.type === "set")?.options.passwordId;
  // As it is decided on, which another request may have changed since it was loaded.
  let replaced = link.passwordId;
  const at = deps.clock().toISOString();
  const changing = {
    ...command,
    decide(now: RepeatableLink) {
      if (now.made) return [];
      if (now.link.status !== "free") replaced = now.link.passwordId;
      const events = changeTogether(now.link, { by: accountId, at, changes, ifRevision });
      // Another request has changed in between what had to be claimed.
      const wanted = newExternalId(now.link as ExistingLink, changes);
      if (wanted !== undefined && wanted !== externalId) throw new Refused("link_claimed");
      return events;
    },
  };
  const token = scope === undefined ? deps.newId() : derivedId("claim", scope);
  const claimant = { host, slug, accountId, token, isNew: false };
  try {
    const { state, position, events } = await withExternalId(deps, claimant, externalId, () =>
      handleCommand(deps, context, changing),
    );
    // The store takes the events of the same request, sent twice at once, for one: as it has them.
    const isRepeatable = scope !== undefined && events.length > 0;
    const { made } = isRepeatable ? (await loadStream(deps.eventStore, command)).state : state;
    const changed = made ?? { link: state.link as ExistingLink, position };
    const { passwordId } = changed.link;
    for (const id of [replaced, newPassword]) if (id !== passwordId) await forgetPassword(deps, id);
    return changed;
  } catch (error) {
    if (isNotAppended(error)) await forgetPassword(deps, newPassword);
    throw error;
  }
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
  return { ...changed, link: changed.link as ExistingLink };
}

/** `legal`: the law demands it. @throws link_not_found, invalid_reason */
export async function blockLink(
  deps: CommandDeps,
  context: CommandContext,
  address: LinkAddress,
  { reason, legal }: { reason: string; legal: boolean },
): Promise<Appended> {
  return await byOperator(deps, context, address, { type: "block", reason: acceptReason(reason), legal });
}

/** @throws link_not_found */
export async function unblockLink(
  deps: CommandDeps,
  context: CommandContext,
  address: LinkAddress,
): Promise<Appended> {
  return await byOperator(deps, context, address, { type: "unblock" });
}

function byOperator(
  deps: CommandDeps,
  context: CommandContext,
  address: LinkAddress,
  change: OperatorChange,
): Promise<Appended> {
  return onLink(deps, context, address, (link, at) => changeByOperator(link, { at, change }));
}

/** By what `changeable` judges the whole request. */
function firstOf(request: LinkChangeRequest): LinkChange["type"] {
  if (request.type !== "patch") return request.type;
  const { disabled, ...others } = request.patch;
  return disabled === true && Object.keys(others).length === 0 ? "disable" : "set";
}

/** The external id that the link has after the changes and not before: a deleted one has none. */
function newExternalId(before: ExistingLink, changes: readonly LinkChange[]): string | undefined {
  let [had, has] = [before.deleted ? undefined : before.externalId, before.externalId];
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
