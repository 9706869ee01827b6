// One follower of the log for all that a process keeps in memory, whatever its roles.
import { runtimeDeps } from "../commands/runtime-deps.ts";
import { LogFollower } from "../coordination/log-follower.ts";
import { cachedCheckpoints } from "../projections/groups.ts";
import type { RoleContext } from "./role-context.ts";

/** `run` once every role listens; the stop ends it. */
export function openLogFollower({ log, backend, onStop }: RoleContext): {
  follower: LogFollower;
  run: () => void;
} {
  const { eventStore, readStore } = backend;
  const warn = (message: string) => log.warn(message);
  const follower = new LogFollower({
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
