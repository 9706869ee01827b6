// The projections as operators see them: builds, position, lag, progress and what was set aside, from committed state.

import { type Build, isUnderOtherRules } from "../../projections/builds/build.ts";
import { readBuilds } from "../../projections/builds/builds-document.ts";
import { projectionGroups } from "../../projections/groups.ts";
import { checkpointName } from "../../projections/projection.ts";
import type { Progress } from "../../projections/runner/progress.ts";
import { projectionStatus } from "../../projections/runner/status.ts";
import { ROUTER_CHECKPOINT, ROUTER_NOTES } from "../../stores/coordination/consumer-checkpoint.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { readSetAside } from "../../stores/read-store/set-aside.ts";

export type ProjectionRows = Awaited<ReturnType<typeof projectionRows>>;
export type ProjectionRow = ProjectionRows["projections"][number];
export type BuildingRow = NonNullable<ProjectionRow["building"]>;
export type BuildLabel = NonNullable<ProjectionRow["active"]>;

/** `foldStore`: the unmapped read store, where every build has its own collection. */
type Deps = { eventStore: EventStore; foldStore: ReadStore; clock: () => Date };

/**
 * Covers the projections of other processes too. `waits_for`: the event of a newer program that it, or its build in
 * progress, stands before. `activates`: whether the build in progress takes over by itself. `webhook_router`: the other
 * consumer of the log that sets events aside. @throws what the stores throw
 */
export async function projectionRows(deps: Deps) {
  const readStore = deps.foldStore;
  const [builds, checkpoints] = await Promise.all([readBuilds(readStore), readStore.checkpoints()]);
  const statuses = await Promise.all(
    projectionGroups.map(({ projections }) => projectionStatus({ ...deps, readStore, projections })()),
  );
  const projections = statuses.flat().map((status) => {
    const { name, version, build, position, lagMs, setAside } = status;
    const { active, previous, building } = builds.projections[name] ?? {};
    const isBuilding = building?.version === version && building.build === build;
    const ofBuilding = building && checkpoints[checkpointName({ name, ...building })];
    const waitsFor = status.waitsFor ?? ofBuilding?.waitsFor ?? null;
    const state = waitsFor ? "waiting" : isBuilding ? "building" : status.behind ? "behind" : "current";
    return {
      ...{ name, version, build },
      ...{ active: active ? labelOf(active) : null, previous: previous ? labelOf(previous) : null },
      building: building
        ? { ...labelOf(building), ...progressOf(building.progress), set_aside: ofBuilding?.setAside ?? 0 }
        : null,
      ...({ state } as const),
      ...{ position, lag_ms: lagMs, waits_for: waitsFor, set_aside: setAside },
      activates: building?.activates ?? false,
    };
  });
  return {
    head: (await deps.eventStore.head()) ?? null,
    projections,
    webhook_router: {
      position: checkpoints[ROUTER_CHECKPOINT]?.position ?? null,
      set_aside: await readSetAside(readStore, ROUTER_NOTES, checkpoints[ROUTER_CHECKPOINT]),
    },
  };
}

/** `rules`: those under which clicks were classified again, null: as recorded. `outdated`: the program has others by now. */
function labelOf(made: Build) {
  const { version, build, rules = null } = made;
  return { version, build, rules, outdated: isUnderOtherRules(made) };
}

function progressOf({ events, eventsPerSecond, done, secondsLeft }: Progress) {
  return { events, events_per_second: eventsPerSecond, done, seconds_left: secondsLeft ?? null };
}
