// Changes an existing link: its owner changes what it says, disables, enables, deletes and restores it; the
// operator blocks an abusive one, whatever its owner does, and lets it go again.
import { destinationsOf, type LinkOptions, withOptions } from "../../events/link-options.ts";
import { Refused } from "../../runtime/refused.ts";
import { acceptReason } from "../accept-text.ts";
import type { AccountState } from "../account/account.ts";
import type { Caller, CommandContext } from "../caller.ts";
import { verifiedHosts } from "../domains/domain.ts";
import { type Appended, type CommandDeps, handleCommand, loadStream } from "../handle-command.ts";
import { acceptFields, requireTierOf, urlsOf } from "./accept-fields.ts";
import { acceptUrl, askedAtOnce } from "./accept-url.ts";
import { type CreateLinkDeps, memoizedAccount } from "./create-link.ts";
import { derivedId } from "./derived-identity.ts";
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
import { isNotAppended, withExternalId } from "./link-claims.ts";
import { forgetPassword } from "./link-password.ts";
import {
  type ChangedLink,
  type LinkAddress,
  onLink,
  type RepeatableLink,
  repeatableLink,
} from "./link-stream.ts";

/** Fields that are absent stay as they are; those that a link can carry are cleared by null. */
type LinkPatch = LinkFields & { url?: string | undefined; disabled?: boolean | undefined };

export type LinkChangeRequest =
  | { type: "patch"; patch: LinkPatch }
  | Exclude<LinkChange, { type: "retarget" | "set" }>;

/**
 * `ifRevision`: of the link's stream, those that the caller accepts. `idempotency`: a scope; a request that is
 * repeated with the same one is answered with what it has done. `isExisting`: a deleted link can only be restored,
 * else it is not found. `account`: the caller's, when it is loaded already (bulk requests).
 */
export type ChangeOptions = {
  ifRevision?: readonly number[] | undefined;
  idempotency?: string | undefined;
  isExisting?: boolean;
  account?: () => Promise<AccountState>;
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
  address: LinkAddress,
  request: LinkChangeRequest,
  { ifRevision, idempotency, isExisting, account = memoizedAccount(deps, by) }: ChangeOptions = {},
): Promise<ChangedLink> {
  await account();
  const { accountId } = by;
  const eventId = idempotency === undefined ? undefined : (n: number) => derivedId("change", idempotency, n);
  const stream = repeatableLink(address, eventId);
  const loaded = await loadStream(deps.eventStore, stream);
  const { link: before, done } = loaded.state;
  if (done) return done;
  const isGone = before.status === "deleted" && request.type !== "restore";
  // Of a change to one's own deleted link it is said that it is deleted, and can be restored.
  const isHidden = isGone && (request.type === "delete" || before.accountId !== accountId);
  if (isExisting && isHidden) throw new Refused("not_found", "Short link not found.");
  const link = changeable(before, accountId, firstOf(request));
  if (ifRevision !== undefined) refuseOther(link, ifRevision);
  const changes = await acceptedChanges(deps, by, account, address, link, request);
  const at = deps.clock().toISOString();
  const externalId = newExternalId(link, changes);
  const given = changes.find((one) => one.type === "set")?.options.passwordId;
  // Of the link as it is decided on, which another request may have changed since it was loaded.
  let replaced = link.passwordId;
  const append = async (): Promise<ChangedLink> => {
    const { state, position, events } = await handleCommand(deps, context, {
      ...stream,
      loaded,
      decide(now: RepeatableLink) {
        if (now.done) return [];
        if (now.link.status !== "free") replaced = now.link.passwordId;
        const events = changeTogether(now.link, { by: accountId, at, changes, ifRevision });
        // Another request has changed in between what had to be claimed.
        const wanted = newExternalId(now.link as ExistingLink, changes);
        if (wanted !== undefined && wanted !== externalId) throw new Refused("link_claimed");
        return events;
      },
      ...(eventId && { eventId }),
    });
    // The store takes the events of the same request, sent twice at once, for one: as it has them.
    const isAppended = eventId !== undefined && events.length > 0;
    const { done } = isAppended ? (await loadStream(deps.eventStore, stream)).state : state;
    return done ?? { link: state.link as ExistingLink, position };
  };
  const token = idempotency === undefined ? deps.newId() : derivedId("claim", idempotency);
  const claimant = { ...address, accountId, token };
  try {
    const changed =
      externalId === undefined ? await append() : await withExternalId(deps, claimant, externalId, append);
    const { passwordId } = changed.link;
    for (const id of [replaced, given]) if (id !== passwordId) await forgetPassword(deps, id);
    return changed;
  } catch (error) {
    if (isNotAppended(error)) await forgetPassword(deps, given);
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

/** The link that an operator names by its slug, by `host/slug`, or by its short URL. @throws invalid_link */
export function namedLink(text: string, baseHost: string): LinkAddress {
  const named = text.includes("/") ? text : `${baseHost}/${text}`;
  const url = URL.parse(named.includes("://") ? named : `http://${named}`);
  const slug = url?.pathname.slice(1).toLowerCase() ?? "";
  if (!url || slug === "" || slug.includes("/"))
    throw new Refused("invalid_link", `${text} names no link: give a slug, host/slug or the short URL`);
  return { host: url.hostname, slug };
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
  for (const one of changes) {
    if (one.type === "set" && one.options.externalId !== undefined) has = one.options.externalId ?? undefined;
    if (one.type === "delete") [had, has] = [undefined, undefined];
  }
  return has === had ? undefined : has;
}

/**
 * The changes that the request comes to, in the order in which they are applied; URLs and password are accepted.
 */
async function acceptedChanges(
  deps: CreateLinkDeps,
  by: Caller,
  account: () => Promise<AccountState>,
  address: LinkAddress,
  link: ExistingLink,
  request: LinkChangeRequest,
): Promise<LinkChange[]> {
  if (request.type !== "patch") {
    if (request.type === "enable" || request.type === "restore") await refuseUnsafe(deps, address, link);
    return [{ type: request.type }];
  }
  const { url, disabled, ...fields } = request.patch;
  requireTierOf(fields, by.tier);
  const own = async () => verifiedHosts(await account());
  const urls = urlsOf(request.patch);
  const asked = urls.length > 1 ? { ...deps, urlSafety: await askedAtOnce(deps, urls, own) } : deps;
  const to = url === undefined ? undefined : await acceptUrl(asked, url, own);
  const { options, unchecked } = await acceptFields(asked, fields, own);
  if (to?.isChecked === false) unchecked.push(to.longUrl);
  if (disabled === false)
    await refuseUnsafe(deps, address, {
      ...withOptions(link, options),
      longUrl: to?.longUrl ?? link.longUrl,
    });
  for (const longUrl of unchecked) await deps.recheckLater({ ...address, longUrl });
  const changes: LinkChange[] = [];
  if (to) changes.push({ type: "retarget", to: to.longUrl });
  if (Object.keys(options).length > 0) changes.push({ type: "set", options });
  if (disabled !== undefined) changes.push({ type: disabled ? "disable" : "enable" });
  return changes;
}

/** A destination may have become known as unsafe since it was accepted. @throws unsafe_url */
async function refuseUnsafe(
  deps: CreateLinkDeps,
  address: LinkAddress,
  link: LinkOptions & { longUrl: string },
): Promise<void> {
  const urls = destinationsOf(link);
  const safety = await deps.urlSafety(urls.map((url) => new URL(url)));
  if (safety.includes("unsafe")) throw new Refused("unsafe_url");
  for (const [n, longUrl] of urls.entries())
    if (safety[n] !== "safe") await deps.recheckLater({ ...address, longUrl });
}
