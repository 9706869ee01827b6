// Activates and deactivates a verified domain; deactivation keeps its links, but they answer 404 until it is active
// again.
import type { Position } from "../../event-store/port.ts";
import { onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { activate, deactivate } from "./domain.ts";

/** @throws account_not_found, domain_not_found, domain_not_proven, history_full */
export async function activateDomain(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  domainId: string,
): Promise<{ position: Position | undefined }> {
  return await decideOn(deps, context, accountId, domainId, activate);
}

/** @throws account_not_found, domain_not_found */
export async function deactivateDomain(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  domainId: string,
): Promise<{ position: Position | undefined }> {
  return await decideOn(deps, context, accountId, domainId, deactivate);
}

async function decideOn(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  domainId: string,
  decide: typeof activate,
): Promise<{ position: Position | undefined }> {
  const at = deps.clock().toISOString();
  const { position } = await onAccount(deps, context, accountId, (account) =>
    decide(account, { domainId, at }),
  );
  return { position };
}
