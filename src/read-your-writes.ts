// Documents follow the log by milliseconds; who has just written must not notice.
import type { Position } from "./event-store/port.ts";
import { checkpointName } from "./projections/checkpoint-name.ts";
import { lifecycleProjections } from "./projections/groups.ts";
import { links } from "./projections/links.ts";
import { whenProjected } from "./queries/freshness.ts";
import type { ReadStore } from "./read-store/port.ts";

type Deps = { readStore: ReadStore; sleep: (ms: number) => Promise<void> };

/** A projector that is merely busy has come by then. */
const LONGEST_WAIT_MS = 5000;
/** Once it was waited for in vain, until it has come again: without a projector every answer would take so long. */
const WAIT_WHILE_AWAY_MS = 200;

export type ReadYourWrites = {
  /** Told how far the log has come by a request, of this process or of another. */
  wrote: (position: Position | undefined) => void;
  /** Settles when the links that were told of are in the documents, or when that takes too long. */
  writesAreReadable: () => Promise<void>;
  /** Settles when the documents of accounts, keys, domains and links show this event, or when that takes too long. */
  whenReadable: (position: Position | undefined) => Promise<void>;
};

export function readYourWrites(deps: Deps): ReadYourWrites {
  let last: Position | undefined;
  let isAway = false;
  const waitFor = async (names: readonly string[], position: Position) => {
    isAway = !(await whenProjected(deps, names, position, isAway ? WAIT_WHILE_AWAY_MS : LONGEST_WAIT_MS));
  };
  return {
    wrote(position) {
      if (position !== undefined && (last === undefined || position > last)) last = position;
    },
    async writesAreReadable() {
      if (last !== undefined) await waitFor([checkpointName(links)], last);
    },
    async whenReadable(position) {
      if (position !== undefined) await waitFor(lifecycleProjections.map(checkpointName), position);
    },
  };
}
