// Loads and changes one account's stream: the shared part of all commands on an account.
import type { EventStore } from "../../event-store/port.ts";
import type { AccountEvent } from "../../events/catalogue.ts";
import { accountStream } from "../../events/streams.ts";
import { Refused } from "../../runtime/refused.ts";
import type { CommandContext } from "../caller.ts";
import {
  type CommandDeps,
  type CommandResult,
  handleCommand,
  type Loaded,
  loadStream,
} from "../handle-command.ts";
import { type AccountState, evolve, noAccount, type OpenAccount, opened } from "./account.ts";

/** Runs `decide` on the account's current state and appends what it returns (handle-command.ts). */
export function onAccount(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  decide: (account: AccountState) => readonly AccountEvent[],
): Promise<CommandResult<AccountState, AccountEvent>> {
  return handleCommand(deps, context, { ...folded(accountId), decide });
}

/** Folds the account's stream; `absent` when it is empty. */
export async function loadAccount(eventStore: EventStore, accountId: string): Promise<AccountState> {
  return (await loadAccountStream(eventStore, accountId)).state;
}

/** Folds the account's stream; with its last revision. */
export function loadAccountStream(
  eventStore: Pick<EventStore, "read">,
  accountId: string,
): Promise<Loaded<AccountState>> {
  return loadStream(eventStore, folded(accountId));
}

/** @throws account_not_found when it is closed, or was never opened */
export async function loadOpenAccount(eventStore: EventStore, accountId: string): Promise<OpenAccount> {
  return opened(await loadAccount(eventStore, accountId));
}

/**
 * Writes data of an open account outside its stream (secrets, billing), where no expected revision detects a closing
 * that runs at the same time: `closeAccount` erases what `change` wrote before it, `undo` what `change` wrote after it.
 * @throws account_not_found; what `change` throws
 */
export async function writeForOpenAccount<T>(
  { eventStore }: { eventStore: EventStore },
  accountId: string,
  change: () => Promise<T>,
  undo: () => Promise<void>,
): Promise<T> {
  await loadOpenAccount(eventStore, accountId);
  const changed = await change();
  if ((await loadAccount(eventStore, accountId)).status !== "closed") return changed;
  await undo();
  throw new Refused("account_not_found");
}

function folded(accountId: string) {
  return { stream: accountStream(accountId), initial: noAccount, fold: evolve };
}
