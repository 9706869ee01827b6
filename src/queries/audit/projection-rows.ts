// The projections as operators see them: builds, position, lag, fault and progress, from committed state.
import type { EventStore, Position } from "../../event-store/port.ts";
import { asBuild, type Build, buildingOf, isUnderOtherRules } from "../../projections/builds/build.ts";
import { readBuilds } from "../../projections/builds/builds-document.ts";
import { allProjections, projectionGroups } from "../../projections/groups.ts";
import { checkpointName } from "../../projections/projection.ts";
import type { Progress } from "../../projections/runner/progress.ts";
import { type ProjectionStatus, projectionStatus } from "../../projections/runner/status.ts";
import type { Checkpoint, ReadStore } from "../../read-store/port.ts";

/** `rules`: those under which clicks were classified again, null: as recorded. `outdated`: the program has others by now. */
export type BuildLabel = { version: number; build: number; rules: string | null; outdated: boolean };

export type BuildingRow = BuildLabel & {
  events: number;
  events_per_second: number;
  done: number;
  seconds_left: number | null;
};

export type ProjectionRow = {
  name: string;
  version: number;
  build: number;
  active: BuildLabel | null;
  previous: BuildLabel | null;
  building: BuildingRow | null;
  state: "faulted" | "building" | "behind" | "current";
  position: Position | null;
  lag_ms: number;
  fault: NonNullable<Checkpoint["fault"]> | null;
};

/** `activates`: whether a build in progress takes over by itself. */
export type ConsoleRow = ProjectionRow & { activates: boolean };

export type ProjectionRows<R = ProjectionRow> = { head: Position | null; projections: R[] };

/** `foldStore`: the unmapped read store, where every build has its own collection. */
type Deps = { eventStore: EventStore; foldStore: ReadStore; clock: () => Date };

/** Covers the projections of other processes too. @throws what the stores throw */
export async function projectionRows(deps: Deps): Promise<ProjectionRows> {
  const { head, projections } = await consoleRows(deps);
  return { head, projections: projections.map(({ activates: _, ...row }) => row) };
}

/** With what the console's buttons depend on, and the fault of a build in progress. */
export async function consoleRows(deps: Deps): Promise<ProjectionRows<ConsoleRow>> {
  const readStore = deps.foldStore;
  const [builds, checkpoints] = await Promise.all([readBuilds(readStore), readStore.checkpoints()]);
  const statuses = await Promise.all(
    projectionGroups.map(({ projections }) => projectionStatus({ ...deps, readStore, projections })()),
  );
  const projections = statuses.flat().map((status): ConsoleRow => {
    const { active, previous, building } = builds.projections[status.name] ?? {};
    const isBuilding = building?.version === status.version && building.build === status.build;
    const fault = status.fault ?? faultOfBuilding(status);
    return {
      ...{ name: status.name, version: status.version, build: status.build },
      ...{ active: labelOf(active), previous: labelOf(previous) },
      building: building ? { ...(labelOf(building) as BuildLabel), ...progressOf(building.progress) } : null,
      state: fault ? "faulted" : isBuilding ? "building" : status.behind ? "behind" : "current",
      position: status.position,
      lag_ms: status.lagMs,
      fault,
      activates: building?.activates ?? false,
    };
  });
  return { head: (await deps.eventStore.head()) ?? null, projections };

  function faultOfBuilding({ name }: ProjectionStatus) {
    const projection = allProjections.find((one) => one.name === name);
    const building = projection && buildingOf(projection, builds);
    return (building && checkpoints[checkpointName(asBuild(projection, building))]?.fault) ?? null;
  }
}

function labelOf(build: Build | undefined): BuildLabel | null {
  if (!build) return null;
  const { version, build: number, rules } = build;
  return { version, build: number, rules: rules ?? null, outdated: isUnderOtherRules(build) };
}

function progressOf({ events, eventsPerSecond, done, secondsLeft }: Progress) {
  return { events, events_per_second: eventsPerSecond, done, seconds_left: secondsLeft ?? null };
}
