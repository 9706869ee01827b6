// Changes an existing link: its owner retargets, disables, enables, deletes and restores it; the operator blocks an abusive
// one, whatever its owner does, and lets it go again.
import { Refused } from "../../runtime/refused.ts";
import { acceptReason } from "../accept-text.ts";
import type { AccountState } from "../account/account.ts";
import type { Caller, CommandContext } from "../caller.ts";
import { verifiedHosts } from "../domains/domain.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { acceptUrl, safetyOf } from "./accept-url.ts";
import { type CreateLinkDeps, memoizedAccount } from "./create-link.ts";
import { change, changeable, changeByOperator, type LinkChange, type OperatorChange } from "./link.ts";
import { currentLink, type LinkAddress, onLink } from "./link-stream.ts";

/** `url` is checked like that of a new link; `enable` and `restore` check the link's present URL again. */
export type LinkChangeRequest = { type: "retarget"; url: string } | Exclude<LinkChange, { type: "retarget" }>;

/**
 * Looks first whether the link can be changed so by this account, then at the URL: its check asks a remote service.
 * @throws of several faults the first in this order: account_not_found for a closed account, link_not_found, link_not_yours,
 * link_blocked, link_deleted; invalid_url for `retarget`; unsafe_url for `retarget`, `enable` and `restore`; history_full
 */
export async function changeLink(
  deps: CreateLinkDeps,
  context: CommandContext,
  by: Caller,
  address: LinkAddress,
  request: LinkChangeRequest,
): Promise<Appended> {
  const account = memoizedAccount(deps, by);
  await account();
  const wanted = await accepted(deps, by, account, address, request);
  return await applyLinkChange(deps, context, by.accountId, address, wanted);
}

/** Applies a change whose URL is already accepted. @throws what the decider `change` throws */
export async function applyLinkChange(
  deps: CommandDeps,
  context: CommandContext,
  by: string,
  address: LinkAddress,
  wanted: LinkChange,
): Promise<Appended> {
  return await onLink(deps, context, address, (link, at) => change(link, { by, at, change: wanted }));
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

async function accepted(
  deps: CreateLinkDeps,
  by: Caller,
  account: () => Promise<AccountState>,
  address: LinkAddress,
  request: LinkChangeRequest,
): Promise<LinkChange> {
  if (request.type === "disable" || request.type === "delete") return request;
  const state = await currentLink(deps.eventStore, address.host, address.slug);
  const { longUrl } = changeable(state, by.accountId, request.type);
  if (request.type !== "retarget") {
    // It may have become known as unsafe since the link was made.
    const safety = await safetyOf(deps, new URL(longUrl));
    if (safety === "unsafe") throw new Refused("unsafe_url");
    if (safety === "unknown") await deps.recheckLater({ ...address, longUrl });
    return request;
  }
  const own = async () => verifiedHosts(await account());
  const { longUrl: to, isChecked } = await acceptUrl(deps, request.url, own);
  if (!isChecked) await deps.recheckLater({ ...address, longUrl: to });
  return { type: "retarget", to };
}
