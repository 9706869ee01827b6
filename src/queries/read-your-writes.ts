// Read-your-writes: waits until the projections show earlier writes of this or another process.

import { CATEGORY } from "../events/streams.ts";
import { orNotBuilt } from "../projections/builds/errors.ts";
import { lifecycle } from "../projections/groups.ts";
import type { LogFollower } from "../stores/coordination/log-follower.ts";
import type { EventStore, Position } from "../stores/event-store/port.ts";
import type { ReadStore } from "../stores/read-store/port.ts";

type Deps = {
  eventStore: Pick<EventStore, "newestOf">;
  readStore: ReadStore;
  follower: Pick<LogFollower, "catchUp" | "lastLinkPosition">;
  /** Resolves when the other processes of `--workers` go by what is in the log now. */
  othersFollow: () => Promise<void>;
  sleep: (ms: number) => Promise<void>;
  /** Aborted when this process begins to stop. */
  stopping: AbortSignal;
};

const POLL_MS = 10;
/** Long enough for a busy projector. */
const TIMEOUT_MS = 5000;
/**
 * Where no projector may be: after a wait has timed out, until one succeeds, as every answer would take TIMEOUT_MS; and
 * during a stop, when that of another process may have stopped, and requests would be cut off.
 */
const TIMEOUT_WITHOUT_PROJECTOR_MS = 200;

export type ReadYourWrites = {
  /** Resolves to true when every link created or changed so far is projected, to false after the timeout. */
  writesAreReadable: () => Promise<boolean>;
  /**
   * Resolves when the lifecycle projections have reached this position, or after the timeout, and when the in-memory
   * caches of this process, and of the others of `--workers`, are invalidated up to the head of the log.
   */
  whenReadable: (position: Position | undefined) => Promise<void>;
  /** Resolves when those caches are invalidated up to the head of the log. */
  changesAreFollowed: () => Promise<void>;
};

export function readYourWrites(deps: Deps): ReadYourWrites {
  const { follower, stopping } = deps;
  let timedOut = false;
  const waitFor = async (position: Position) => {
    const longest = timedOut ? TIMEOUT_WITHOUT_PROJECTOR_MS : TIMEOUT_MS;
    const timeoutMs = () => (stopping.aborted ? TIMEOUT_WITHOUT_PROJECTOR_MS : longest);
    timedOut = !(await whenProjected(deps, position, timeoutMs));
    return !timedOut;
  };
  // While the event store is unavailable, waits only for what was followed before.
  const caughtUp = () => follower.catchUp().catch(() => undefined);
  const followed = async () => void (await Promise.all([caughtUp(), deps.othersFollow()]));
  return {
    async writesAreReadable() {
      await caughtUp();
      // Where the store can't say it: the last one that this process has followed, none from before its start.
      const newest = (await deps.eventStore.newestOf?.(CATEGORY.link)) ?? follower.lastLinkPosition;
      return newest === undefined || (await waitFor(newest));
    },
    async whenReadable(position) {
      if (position === undefined) return;
      await Promise.all([followed(), waitFor(position)]);
    },
    changesAreFollowed: followed,
  };
}

/**
 * True once the lifecycle projections have reached the position; false after `timeoutMs`, which may become shorter
 * meanwhile, or immediately when they can't: they wait for a newer program, or no build of theirs answers.
 */
export async function whenProjected(
  { readStore, sleep }: Pick<Deps, "readStore" | "sleep">,
  position: Position,
  timeoutMs: () => number,
): Promise<boolean> {
  // By the clock: on a busy MongoDB the reads take longer than the pauses between them.
  const startedAt = performance.now();
  for (;;) {
    const read = await orNotBuilt(
      readStore.checkpoint(lifecycle.name).then((checkpoint) => ({ checkpoint })),
    );
    if (!read) return false;
    const { checkpoint } = read;
    if (checkpoint && checkpoint.position >= position) return true;
    if (checkpoint?.waitsFor) return false;
    if (performance.now() - startedAt >= timeoutMs()) return false;
    await sleep(POLL_MS);
  }
}
