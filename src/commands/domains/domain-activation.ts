// Activates and deactivates a verified domain; deactivation keeps its links, but they answer 404 until it is active
// again.
import type { Position } from "../../event-store/port.ts";
import { onAccount } from "../account/account-stream.ts";
import type { CommandContext } from "../caller.ts";
import type { CommandDeps } from "../handle-command.ts";
import { activate, deactivate } from "./domain.ts";

type Switched = { domainId: string; position: Position | undefined };

/** @throws AccountNotFound, DomainNotFound, DomainNotProven, HistoryFull */
export async function activateDomain(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  domainId: string,
): Promise<Switched> {
  return await decideOn(deps, context, accountId, domainId, activate);
}

/** @throws AccountNotFound, DomainNotFound */
export async function deactivateDomain(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  domainId: string,
): Promise<Switched> {
  return await decideOn(deps, context, accountId, domainId, deactivate);
}

async function decideOn(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  domainId: string,
  decide: typeof activate,
): Promise<Switched> {
  const at = deps.clock().toISOString();
  const { position } = await onAccount(deps, context, accountId, (account) =>
    decide(account, { domainId, at }),
  );
  return { domainId, position };
}
