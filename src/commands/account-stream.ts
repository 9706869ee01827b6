// What every command on an account shares: its stream, its fold, and the decision handed in.
import type { EventStore } from "../event-store/port.ts";
import type { AccountEvent } from "../events/catalogue.ts";
import { accountStream } from "../events/streams.ts";
import { type AccountState, evolve, noAccount } from "./account.ts";
import type { CommandContext } from "./caller.ts";
import { type CommandDeps, type CommandResult, handleCommand, loadStream } from "./handle-command.ts";

export function onAccount(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  decide: (account: AccountState) => readonly AccountEvent[],
): Promise<CommandResult<AccountState, AccountEvent>> {
  return handleCommand(deps, context, { ...folded(accountId), decide });
}

/** The account as its stream says now; `absent` when there is none. */
export async function loadAccount(eventStore: EventStore, accountId: string): Promise<AccountState> {
  return (await loadStream(eventStore, folded(accountId))).state;
}

function folded(accountId: string) {
  return { stream: accountStream(accountId), initial: noAccount, fold: evolve };
}
