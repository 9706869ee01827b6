// Keeps folded accounts in memory, so that a request reads only what its account's stream has got since, or nothing at all.
import { LRUCache } from "lru-cache";
import type { EventStore, Position } from "../../event-store/port.ts";
import { accountStream, CATEGORY } from "../../events/streams.ts";
import type { AccountState } from "./account.ts";
import { loadAccountStream } from "./account-stream.ts";

/** The account as its whole stream says at the time of the call; not to be mutated. */
export type CurrentAccount = (accountId: string) => Promise<AccountState>;

/** `known`: the same account, where it is known without a call to another thread or a server; else undefined. */
export type CurrentAccounts = {
  current: CurrentAccount;
  known(accountId: string): Promise<AccountState | undefined>;
};

/** `upTo`: position up to which the state has every event; the empty text where the store can't say. */
type KeptAccount = { state: AccountState; revision: number; upTo: Position };

/** Bounds the memory by the events that the accounts were folded from, of 100 to 500 bytes each. */
const MOST_EVENTS = 50_000;

/**
 * A kept account is current while no account has got an event, where the store says so; else its stream is read from where
 * the account ends. When there is an event the account is folded anew, as `evolve` would change the one that other commands
 * are deciding on.
 */
export function currentAccounts(eventStore: Pick<EventStore, "read" | "newestOf">): CurrentAccounts {
  const kept = new LRUCache<string, KeptAccount>({
    maxSize: MOST_EVENTS,
    sizeCalculation: ({ revision }) => revision + 1,
  });
  const newest = async () => await eventStore.newestOf?.(CATEGORY.account);
  const isCurrent = ({ upTo }: KeptAccount, position: Position | undefined) =>
    position !== undefined && upTo >= position;
  return {
    async current(accountId) {
      // Before the stream is read, which then has every event up to there.
      const upTo = await newest();
      const account = kept.get(accountId);
      if (account) {
        if (isCurrent(account, upTo)) return account.state;
        const from = account.revision + 1;
        const newer = await eventStore.read(accountStream(accountId), { from, limit: 1 });
        if (newer.length === 0) {
          account.upTo = upTo ?? "";
          return account.state;
        }
      }
      const { state, revision } = await loadAccountStream(eventStore, accountId);
      if (revision !== "none") kept.set(accountId, { state, revision, upTo: upTo ?? "" });
      return state;
    },
    async known(accountId) {
      const account = kept.get(accountId);
      return account && isCurrent(account, await newest()) ? account.state : undefined;
    },
  };
}
