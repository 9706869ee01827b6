// Changes an existing link: retarget, disable, enable, delete, restore.
import type { Position } from "../../event-store/port.ts";
import { Refused } from "../../runtime/refused.ts";
import type { AccountState } from "../account/account.ts";
import type { Caller, CommandContext } from "../caller.ts";
import { verifiedHosts } from "../domains/domain.ts";
import { type CommandDeps, handleCommand } from "../handle-command.ts";
import { acceptUrl, safetyOf } from "./accept-url.ts";
import { type CreateLinkDeps, memoizedAccount } from "./create-link.ts";
import { change, changeable, type ExistingLink, type LinkChange } from "./link.ts";
import { currentLink, foldedLink } from "./link-stream.ts";

/** `host` without port: the base host or a custom domain. */
export type LinkAddress = { host: string; slug: string };

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
): Promise<{ position: Position | undefined }> {
  const account = memoizedAccount(deps, by);
  await account();
  const wanted = await accepted(deps, by, account, address, request);
  return applyLinkChange(deps, context, by.accountId, address, wanted);
}

/** Applies a change whose URL is already accepted. @throws what the decider `change` throws */
export async function applyLinkChange(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  address: LinkAddress,
  wanted: LinkChange,
): Promise<{ position: Position | undefined }> {
  const at = deps.clock().toISOString();
  const { position } = await handleCommand(deps, context, {
    ...foldedLink(address.host, address.slug),
    decide: (link) => change(link, { by: accountId, at, change: wanted }),
  });
  return { position };
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
  const link = changeable(state, by.accountId, request.type);
  if (request.type !== "retarget") {
    await stillSafe(deps, link);
    return request;
  }
  const own = async () => verifiedHosts(await account());
  const { longUrl: to, isChecked } = await acceptUrl(deps, request.url, own);
  if (!isChecked) await deps.recheckLater({ ...address, longUrl: to });
  return { type: "retarget", to };
}

/** The URL may have become known as unsafe since the link was made. @throws unsafe_url */
async function stillSafe(deps: CreateLinkDeps, { host, slug, longUrl }: ExistingLink): Promise<void> {
  const safety = await safetyOf(deps, new URL(longUrl));
  if (safety === "unsafe") throw new Refused("unsafe_url");
  if (safety === "unknown") await deps.recheckLater({ host, slug, longUrl });
}
