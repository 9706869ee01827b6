// The event subscription that invalidates the in-memory caches of all roles of a process.

import { runtimeDeps } from "../../commands/runtime-deps.ts";
import { followedStreams } from "../../events/streams.ts";
import { orNotBuilt } from "../../projections/builds/errors.ts";
import { lifecycle } from "../../projections/groups.ts";
import { LogFollower } from "../../stores/coordination/log-follower.ts";
import { isOfThisLog } from "../../stores/event-store/foreign-position.ts";
import { type EventStore, type Position, START } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import type { RoleContext } from "./role-context.ts";

/** `run` starts the subscription and is called after every role has added its listener. */
export function openLogFollower({ log, backend, onStop }: RoleContext): {
  follower: LogFollower;
  run: () => void;
} {
  const { eventStore, readStore } = backend;
  const follower = new LogFollower({
    followed: followedStreams,
    eventStore,
    documentsPosition: () => positionOf(eventStore, readStore),
    random: runtimeDeps.random,
    log,
  });
  const ended = new AbortController();
  return {
    follower,
    run() {
      const running = follower.run(ended.signal);
      onStop(async () => {
        ended.abort();
        await running;
      });
    },
  };
}

/**
 * START where no build answers, as then nothing of it is cached, and for documents of another log, which are read
 * until they are replaced: each event of this one keeps what they say from being cached.
 */
async function positionOf(
  eventStore: EventStore,
  readStore: Pick<ReadStore, "checkpoint">,
): Promise<Position> {
  const checkpoint = await orNotBuilt(readStore.checkpoint(lifecycle.name));
  return checkpoint && (await isOfThisLog({ eventStore }, checkpoint)) ? checkpoint.position : START;
}
