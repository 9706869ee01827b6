// Stops an abusive link for the operator, whatever its owner does, and lets it go again.
import type { Position } from "../../event-store/port.ts";
import { acceptReason } from "../accept-reason.ts";
import type { CommandContext } from "../caller.ts";
import { type CommandDeps, handleCommand } from "../handle-command.ts";
import type { LinkAddress } from "./change-link.ts";
import { changeByOperator, type OperatorChange } from "./link.ts";
import { foldedLink } from "./link-stream.ts";

/** `legal`: the law demands it. @throws link_not_found, invalid_reason */
export async function blockLink(
  deps: CommandDeps,
  context: CommandContext,
  address: LinkAddress,
  { reason, legal }: { reason: string; legal: boolean },
): Promise<{ position: Position | undefined }> {
  return await apply(deps, context, address, { type: "block", reason: acceptReason(reason), legal });
}

/** @throws link_not_found */
export async function unblockLink(
  deps: CommandDeps,
  context: CommandContext,
  address: LinkAddress,
): Promise<{ position: Position | undefined }> {
  return await apply(deps, context, address, { type: "unblock" });
}

async function apply(
  deps: CommandDeps,
  context: CommandContext,
  { host, slug }: LinkAddress,
  change: OperatorChange,
): Promise<{ position: Position | undefined }> {
  const at = deps.clock().toISOString();
  const { position } = await handleCommand(deps, context, {
    ...foldedLink(host, slug),
    decide: (link) => changeByOperator(link, { at, change }),
  });
  return { position };
}
