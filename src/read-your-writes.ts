// Documents follow the log by milliseconds; who has just written, or was just given a key, must not notice.
import { newestEventFinder } from "./event-store/newest-event.ts";
import type { EventStore, Position } from "./event-store/port.ts";
import { PREFIX } from "./events/streams.ts";
import { accounts } from "./projections/accounts.ts";
import { checkpointName } from "./projections/checkpoint-name.ts";
import { lifecycleProjections } from "./projections/groups.ts";
import { keys } from "./projections/keys.ts";
import { links } from "./projections/links.ts";
import { whenProjected } from "./queries/freshness.ts";
import type { ReadStore } from "./read-store/port.ts";

type Deps = { eventStore: EventStore; readStore: ReadStore; sleep: (ms: number) => Promise<void> };

const LONGEST_WAIT_MS = 1000;

export type ReadYourWrites = {
  /** Told how far the log has come by a request, of this process or of another. */
  wrote: (position: Position | undefined) => void;
  /** Settles when the links that were told of are in the documents, or after a second. */
  writesAreReadable: () => Promise<void>;
  /** Settles when the documents of accounts, keys, domains and links show this event, or after a second. */
  whenReadable: (position: Position | undefined) => Promise<void>;
  /** Settles when the keys and accounts that are in the log now are in the documents, or after a second. */
  keysAreCurrent: () => Promise<void>;
};

export function readYourWrites(deps: Deps): ReadYourWrites {
  let last: Position | undefined;
  const newestOfAccounts = newestEventFinder(deps.eventStore, [PREFIX.account]);
  return {
    wrote(position) {
      if (position !== undefined && (last === undefined || position > last)) last = position;
    },
    async writesAreReadable() {
      if (last !== undefined) await whenProjected(deps, [checkpointName(links)], last, LONGEST_WAIT_MS);
    },
    async whenReadable(position) {
      const names = lifecycleProjections.map(checkpointName);
      if (position !== undefined) await whenProjected(deps, names, position, LONGEST_WAIT_MS);
    },
    async keysAreCurrent() {
      const known = await deps.readStore.checkpoint(checkpointName(keys));
      const newest = await newestOfAccounts(known?.position || undefined);
      if (newest === undefined) return;
      const names = [checkpointName(keys), checkpointName(accounts)];
      await whenProjected(deps, names, newest, LONGEST_WAIT_MS);
    },
  };
}
