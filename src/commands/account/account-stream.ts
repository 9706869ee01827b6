// Loads and changes one account's stream, and keeps folded accounts in memory: the shared part of all its commands.
import { LRUCache } from "lru-cache";
import type { AccountEvent } from "../../events/catalogue.ts";
import { accountStream, CATEGORY } from "../../events/streams.ts";
import { type Actor, type EventStore, type Position, START } from "../../stores/event-store/port.ts";
import type { CommandContext } from "../caller.ts";
import {
  type Appended,
  type CommandDeps,
  type CommandResult,
  handleCommand,
  loadStream,
} from "../handle-command.ts";
import { type AccountState, evolve, noAccount } from "./account.ts";

/**
 * Runs `decide` on the account's current state and appends what it returns (handle-command.ts). `at`: the time of the command,
 * ISO 8601 UTC; `actor`: whose it is.
 */
export function onAccount(
  deps: CommandDeps,
  context: CommandContext,
  accountId: string,
  decide: (account: AccountState, at: string, actor: Actor) => readonly AccountEvent[],
): Promise<CommandResult<AccountState, AccountEvent>> {
  const at = deps.clock().toISOString();
  const by = (account: AccountState) => decide(account, at, context.actor);
  return handleCommand(deps, context, { ...folded(accountId), decide: by });
}

/** `onAccount`, of which only the position is told. */
export async function changeAccount(...command: Parameters<typeof onAccount>): Promise<Appended> {
  const { position } = await onAccount(...command);
  return { position };
}

/** A use case that is its decision, of what it is called with. @throws what `decide` throws */
export function accountCommand<Args extends readonly unknown[]>(
  decide: (account: AccountState, by: { at: string; actor: Actor }, ...args: Args) => readonly AccountEvent[],
) {
  return (deps: CommandDeps, context: CommandContext, accountId: string, ...args: Args): Promise<Appended> =>
    changeAccount(deps, context, accountId, (account, at, actor) => decide(account, { at, actor }, ...args));
}

/** Folds the account's stream; `absent` when it is empty. */
export async function loadAccount(eventStore: EventStore, accountId: string): Promise<AccountState> {
  return (await loadStream(eventStore, folded(accountId))).state;
}

function folded(accountId: string) {
  return { stream: accountStream(accountId), initial: noAccount, fold: evolve };
}

/**
 * The account as its whole stream says at the time of the call; not to be mutated. Every command on a link reads its caller's
 * first, as the link's own stream does not contain the closing of its account.
 */
export type CurrentAccount = (accountId: string) => Promise<AccountState>;

/** `known`: the same account, where it is known without a call to another thread or a server; else undefined. */
export type CurrentAccounts = {
  current: CurrentAccount;
  known(accountId: string): Promise<AccountState | undefined>;
};

/** `upTo`: position up to which the state has every event; the empty text where the store can't say. */
type CachedAccount = { state: AccountState; revision: number; upTo: Position };

/** Bounds the memory by the events that the accounts were folded from, of 100 to 500 bytes each. */
const MOST_EVENTS = 50_000;

/**
 * A kept account is current while no account has got an event, where the store says so; else its stream is read from where
 * the account ends. When there is an event the account is folded anew, as `evolve` would change the one that other commands
 * are deciding on.
 */
export function currentAccounts(eventStore: Pick<EventStore, "read" | "newestOf">): CurrentAccounts {
  const cached = new LRUCache<string, CachedAccount>({
    maxSize: MOST_EVENTS,
    sizeCalculation: ({ revision }) => revision + 1,
  });
  const newest = async () => await eventStore.newestOf?.(CATEGORY.account);
  const stateAt = (account: CachedAccount | undefined, position: Position | undefined) =>
    account && position !== undefined && account.upTo >= position ? account.state : undefined;
  return {
    async known(accountId) {
      const account = cached.get(accountId);
      return account && stateAt(account, await newest());
    },
    async current(accountId) {
      // Before the stream is read, which then has every event up to there.
      const upTo = await newest();
      const account = cached.get(accountId);
      const present = stateAt(account, upTo);
      if (present) return present;
      if (account) {
        const from = account.revision + 1;
        const newer = await eventStore.read(accountStream(accountId), { from, limit: 1 });
        if (newer.length === 0) {
          account.upTo = upTo ?? START;
          return account.state;
        }
      }
      const { state, revision } = await loadStream(eventStore, folded(accountId));
      if (revision !== "none") cached.set(accountId, { state, revision, upTo: upTo ?? START });
      return state;
    },
  };
}
