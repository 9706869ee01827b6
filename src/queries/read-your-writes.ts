// Documents follow the log by milliseconds; who has just written, here or at another node, must not notice.
import type { LogFollower } from "../coordination/log-follower.ts";
import type { Position } from "../event-store/port.ts";
import { links } from "../projections/definitions/links.ts";
import { lifecycleProjections } from "../projections/groups.ts";
import { checkpointName } from "../projections/projection.ts";
import type { ReadStore } from "../read-store/port.ts";
import { whenProjected } from "./freshness.ts";

type Deps = {
  readStore: ReadStore;
  follower: Pick<LogFollower, "catchUp" | "lastLinkPosition">;
  sleep: (ms: number) => Promise<void>;
};

/** A projector that is merely busy has come by then. */
const LONGEST_WAIT_MS = 5000;
/** Once it was waited for in vain, until it has come again: without a projector every answer would take so long. */
const WAIT_WHILE_AWAY_MS = 200;

export type ReadYourWrites = {
  /** Settles when every link made or changed so far is in the documents, or when that takes too long. */
  writesAreReadable: () => Promise<void>;
  /**
   * Settles when the documents of accounts, keys, domains and links show this event, or when that takes too long, and
   * when what this process keeps in memory goes by it.
   */
  whenReadable: (position: Position | undefined) => Promise<void>;
};

export function readYourWrites(deps: Deps): ReadYourWrites {
  const { follower } = deps;
  let isAway = false;
  const waitFor = async (names: readonly string[], position: Position) => {
    isAway = !(await whenProjected(deps, names, position, isAway ? WAIT_WHILE_AWAY_MS : LONGEST_WAIT_MS));
  };
  // While the log can't be read, what was followed so far is all that can be waited for.
  const caughtUp = () => follower.catchUp().catch(() => undefined);
  return {
    async writesAreReadable() {
      await caughtUp();
      if (follower.lastLinkPosition !== undefined)
        await waitFor([checkpointName(links)], follower.lastLinkPosition);
    },
    async whenReadable(position) {
      if (position === undefined) return;
      await Promise.all([caughtUp(), waitFor(lifecycleProjections.map(checkpointName), position)]);
    },
  };
}
