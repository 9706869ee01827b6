// Stops new links on a domain; the links it has go on redirecting.
import type { Position } from "../../event-store/port.ts";
import { onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { deactivate } from "./domain.ts";

/** @throws AccountNotFound, DomainNotFound */
export async function deactivateDomain(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  domainId: string,
): Promise<{ domainId: string; position: Position | undefined }> {
  const at = deps.clock().toISOString();
  const { position } = await onAccount(deps, context, accountId, (account) =>
    deactivate(account, { domainId, at }),
  );
  return { domainId, position };
}
