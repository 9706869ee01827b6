// A follower of the log over the stores of a test.
import { followedStreams } from "../../../src/events/streams.ts";
import { lifecycle } from "../../../src/projections/groups.ts";
import { LogFollower, type LogFollowerDeps } from "../../../src/stores/coordination/log-follower.ts";
import { START } from "../../../src/stores/event-store/port.ts";
import type { ReadStore } from "../../../src/stores/read-store/port.ts";
import { silent } from "../projections/fold-groups.ts";

type Stores = Pick<LogFollowerDeps, "eventStore"> & { readStore: Pick<ReadStore, "checkpoint"> };

export function followerOf(
  { eventStore, readStore }: Stores,
  more: Partial<LogFollowerDeps> = {},
): LogFollower {
  const documentsPosition = async () => (await readStore.checkpoint(lifecycle.name))?.position ?? START;
  const deps = { eventStore, documentsPosition, random: Math.random, log: silent };
  return new LogFollower({ followed: followedStreams, ...deps, ...more });
}
