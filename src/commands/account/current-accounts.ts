// Keeps folded accounts in memory, so that a command on a link reads only what its account's stream has got since.
import { LRUCache } from "lru-cache";
import type { EventStore } from "../../event-store/port.ts";
import { accountStream } from "../../events/streams.ts";
import type { Loaded } from "../handle-command.ts";
import type { AccountState } from "./account.ts";
import { loadAccountStream } from "./account-stream.ts";

/** The account as its whole stream says at the time of the call; not to be mutated. */
export type CurrentAccount = (accountId: string) => Promise<AccountState>;

/** Bounds the memory by the events that the accounts were folded from, of 100 to 500 bytes each. */
const MOST_EVENTS = 50_000;

/**
 * Every call reads the stream from where the kept account ends. When there is an event the account is folded anew, as
 * `evolve` would change the one that other commands are deciding on.
 */
export function currentAccounts(eventStore: Pick<EventStore, "read">): CurrentAccount {
  const kept = new LRUCache<string, Loaded<AccountState> & { revision: number }>({
    maxSize: MOST_EVENTS,
    sizeCalculation: ({ revision }) => revision + 1,
  });
  return async (accountId) => {
    const known = kept.get(accountId);
    if (known) {
      const newer = await eventStore.read(accountStream(accountId), { from: known.revision + 1, limit: 1 });
      if (newer.length === 0) return known.state;
    }
    const { revision, ...loaded } = await loadAccountStream(eventStore, accountId);
    if (revision !== "none") kept.set(accountId, { ...loaded, revision });
    return loaded.state;
  };
}
