// What every command on an account shares: its stream, its fold, and the decision handed in.
import type { EventStore } from "../../event-store/port.ts";
import type { AccountEvent } from "../../events/catalogue.ts";
import { accountStream } from "../../events/streams.ts";
import type { CommandContext } from "../caller.ts";
import { type CommandDeps, type CommandResult, handleCommand, loadStream } from "../handle-command.ts";
import { type AccountState, evolve, noAccount, type OpenAccount, opened } from "./account.ts";
import { AccountNotFound } from "./account-errors.ts";

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

/** @throws AccountNotFound when it is closed, or was never opened */
export async function loadOpenAccount(eventStore: EventStore, accountId: string): Promise<OpenAccount> {
  return opened(await loadAccount(eventStore, accountId));
}

/**
 * Changes what is kept of an account beside its stream, which no revision guards. Of an account that is closed
 * meanwhile nothing is kept: closing erases what `change` wrote before it, and `undo` what it wrote after.
 * @throws AccountNotFound; what `change` throws
 */
export async function keepOfOpenAccount<T>(
  { eventStore }: { eventStore: EventStore },
  accountId: string,
  change: () => Promise<T>,
  undo: () => Promise<void>,
): Promise<T> {
  await loadOpenAccount(eventStore, accountId);
  const changed = await change();
  if ((await loadAccount(eventStore, accountId)).status !== "closed") return changed;
  await undo();
  throw new AccountNotFound();
}

function folded(accountId: string) {
  return { stream: accountStream(accountId), initial: noAccount, fold: evolve };
}
