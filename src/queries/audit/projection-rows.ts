// The projections as operators see them: builds, position, lag, progress and what was set aside, from committed state.
import { isSame, isUnderOtherRules } from "../../projections/builds/builds.ts";
import { buildsIn, buildsName } from "../../projections/builds/builds-document.ts";
import { groupStatus } from "../../projections/builds/status.ts";
import { type Build, checkpointName } from "../../projections/fold/build.ts";
import type { Progress } from "../../projections/fold/progress.ts";
import { groupCollections, type ProjectionGroup, projectionGroups } from "../../projections/groups.ts";
import type { SetAside } from "../../stores/coordination/set-aside.ts";
import type { EventStore, Position } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";

export type ProjectionRows = Awaited<ReturnType<typeof projectionRows>>;
export type ProjectionRow = ProjectionRows["projections"][number];
export type BuildingRow = NonNullable<ProjectionRow["building"]>;
export type BuildLabel = NonNullable<ProjectionRow["active"]>;

/** `foldStore`: the unmapped read store, where every build has its own collection. */
type Deps = {
  eventStore: EventStore;
  foldStore: ReadStore;
  deliveryQueue: { routed(): Promise<{ position: Position; setAside: SetAside } | undefined> };
  clock: () => Date;
};

/**
 * A row for each group of projections, whichever process folds it. `webhook_router`: the other consumer of the log that sets
 * events aside. @throws what the stores throw
 */
export async function projectionRows(deps: Deps) {
  const projections = await Promise.all(projectionGroups.map((group) => rowOf(deps, group)));
  const router = await deps.deliveryQueue.routed();
  return {
    head: (await deps.eventStore.head()) ?? null,
    projections,
    webhook_router: {
      position: router?.position ?? null,
      set_aside: router?.setAside ?? { count: 0, events: [] },
    },
  };
}

/** `waits_for`: the event of a newer program that it, or its build in the making, stands before. */
async function rowOf(deps: Deps, group: ProjectionGroup) {
  const readStore = deps.foldStore;
  const checkpoints = await readStore.checkpoints();
  const { active, previous, building } = buildsIn(checkpoints[buildsName(group)]);
  const status = await groupStatus({ ...deps, readStore }, group)();
  const { name, version, build, position, lagMs, setAside } = status;
  const ofBuilding = building && checkpoints[checkpointName(group, building)];
  const waitsFor = status.waitsFor ?? ofBuilding?.waitsFor ?? null;
  const isBuilding = isSame(building, { version, build });
  const late = status.isOfOtherLog ? "other_log" : status.behind ? "behind" : "current";
  return {
    name,
    version,
    build,
    contains: groupCollections(group).map(({ name }) => name),
    active: active ? labelOf(active) : null,
    previous: previous ? labelOf(previous) : null,
    building: building
      ? {
          ...labelOf(building),
          ...progressOf(building.progress),
          because: building.because ?? null,
          is_rollback: building.isRollback,
          set_aside: ofBuilding?.setAside ?? 0,
        }
      : null,
    ...({ state: waitsFor ? "waiting" : isBuilding ? "building" : late } as const),
    position,
    lag_ms: lagMs,
    waits_for: waitsFor,
    set_aside: setAside,
  };
}

/** `rules`: those under which clicks were classified again, null: as recorded. `outdated`: the program has others by now. */
function labelOf(of: Build) {
  const { version, build, rules = null } = of;
  return { version, build, rules, outdated: isUnderOtherRules(of) };
}

function progressOf({ events, eventsPerSecond, done, secondsLeft }: Progress) {
  return { events, events_per_second: eventsPerSecond, done, seconds_left: secondsLeft ?? null };
}
