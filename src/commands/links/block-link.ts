// The operator blocks an abusive link, whatever its owner does, and lets it go again.
import { acceptReason } from "../accept-text.ts";
import type { CommandContext } from "../caller.ts";
import type { Appended, CommandDeps } from "../handle-command.ts";
import { changeByOperator, type OperatorChange } from "./link.ts";
import { type LinkAddress, onLink } from "./link-stream.ts";

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
