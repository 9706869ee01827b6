// Changes a link after it was made: where it goes, whether it works, whether it is there.
import type { Position } from "../event-store/port.ts";
import type { LinkEvent } from "../events/catalogue.ts";
import { linkKey, linkStream } from "../events/streams.ts";
import { TIER_LIMITS } from "../events/vocabulary.ts";
import { acceptUrl } from "./accept-url.ts";
import { loadAccount } from "./account-stream.ts";
import type { Caller, CommandContext } from "./caller.ts";
import type { CreateLinkDeps } from "./create-link.ts";
import { type CommandDeps, handleCommand } from "./handle-command.ts";
import { change, type ExistingLink, evolve, freeLink, type LinkChange, type LinkState } from "./link.ts";
import { LinkNotFound } from "./link-errors.ts";

/** `host` without port: the base host or a custom domain. */
export type LinkAddress = { host: string; slug: string };

/** `url` is checked like that of a new link. */
export type LinkChangeRequest = { type: "retarget"; url: string } | Exclude<LinkChange, { type: "retarget" }>;

/** @throws LinkNotFound, LinkNotYours, LinkDeleted; InvalidUrl or UnsafeUrl for `retarget` */
export async function changeLink(
  deps: CreateLinkDeps,
  context: CommandContext,
  by: Caller,
  address: LinkAddress,
  request: LinkChangeRequest,
): Promise<{ link: ExistingLink; revision: number; position: Position | undefined }> {
  return applyLinkChange(deps, context, by.accountId, address, await accepted(deps, by, request));
}

/** A change whose address is accepted already. @throws LinkNotFound, LinkNotYours, LinkDeleted */
export async function applyLinkChange(
  deps: CommandDeps & Pick<CreateLinkDeps, "announce">,
  context: CommandContext,
  accountId: string,
  address: LinkAddress,
  wanted: LinkChange,
): Promise<{ link: ExistingLink; revision: number; position: Position | undefined }> {
  const at = deps.clock().toISOString();
  const { state, revision, position } = await handleCommand<LinkState, LinkEvent>(deps, context, {
    stream: linkStream(address.host, address.slug),
    initial: freeLink,
    fold: evolve,
    decide: (link) => change(link, { by: accountId, at, change: wanted }),
  });
  if (state.status === "free" || revision === "none") throw new LinkNotFound();
  deps.announce({ ...state, key: linkKey(state.host, state.slug), revision });
  return { link: state, revision, position };
}

async function accepted(deps: CreateLinkDeps, by: Caller, request: LinkChangeRequest): Promise<LinkChange> {
  if (request.type !== "retarget") return request;
  const to = await acceptUrl(deps, request.url, async () => {
    if (!TIER_LIMITS[by.tier].developerFeatures) return [];
    const account = await loadAccount(deps.eventStore, by.accountId);
    return account.status === "open" ? [...account.domains.keys()] : [];
  });
  return { type: "retarget", to };
}
