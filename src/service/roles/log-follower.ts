// The event subscription that invalidates the in-memory caches of all roles of a process.

import { runtimeDeps } from "../../commands/runtime-deps.ts";
import { followedStreams } from "../../events/streams.ts";
import { cachedCheckpoints } from "../../projections/groups.ts";
import { LogFollower } from "../../stores/coordination/log-follower.ts";
import type { RoleContext } from "./role-context.ts";

/** `run` starts the subscription and is called after every role has added its listener. */
export function openLogFollower({ log, backend, onStop }: RoleContext): {
  follower: LogFollower;
  run: () => void;
} {
  const { eventStore, readStore } = backend;
  const warn = (message: string) => log.warn(message);
  const follower = new LogFollower({
    followed: followedStreams,
    eventStore,
    readStore,
    checkpoints: cachedCheckpoints,
    random: runtimeDeps.random,
    log: warn,
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
