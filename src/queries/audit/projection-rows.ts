// The projections as operators see them: builds, position, lag, progress and what was set aside, from committed state.

import { ROUTER_CHECKPOINT, ROUTER_NOTES } from "../../coordination/consumer-checkpoint.ts";
import { readSetAside, type SetAside } from "../../coordination/set-aside.ts";
import type { EventStore, Position } from "../../event-store/port.ts";
import { type Build, isUnderOtherRules } from "../../projections/builds/build.ts";
import { readBuilds } from "../../projections/builds/builds-document.ts";
import { projectionGroups } from "../../projections/groups.ts";
import { checkpointName } from "../../projections/projection.ts";
import type { Progress } from "../../projections/runner/progress.ts";
import { projectionStatus } from "../../projections/runner/status.ts";
import type { AwaitedEvent, ReadStore } from "../../read-store/port.ts";

/** `rules`: those under which clicks were classified again, null: as recorded. `outdated`: the program has others by now. */
export type BuildLabel = { version: number; build: number; rules: string | null; outdated: boolean };

export type BuildingRow = BuildLabel & {
  events: number;
  events_per_second: number;
  done: number;
  seconds_left: number | null;
  set_aside: number;
};

export type ProjectionRow = {
  name: string;
  version: number;
  build: number;
  active: BuildLabel | null;
  previous: BuildLabel | null;
  building: BuildingRow | null;
  state: "waiting" | "building" | "behind" | "current";
  position: Position | null;
  lag_ms: number;
  /** The event of a newer program that it, or its build in progress, stands before. */
  waits_for: AwaitedEvent | null;
  set_aside: SetAside;
};

/** `activates`: whether a build in progress takes over by itself. */
export type ConsoleRow = ProjectionRow & { activates: boolean };

/** `webhook_router`: the other consumer of the log that sets events aside. */
export type ProjectionRows<R = ProjectionRow> = {
  head: Position | null;
  projections: R[];
  webhook_router: { position: Position | null; set_aside: SetAside };
};

/** `foldStore`: the unmapped read store, where every build has its own collection. */
type Deps = { eventStore: EventStore; foldStore: ReadStore; clock: () => Date };

/** Covers the projections of other processes too. @throws what the stores throw */
export async function projectionRows(deps: Deps): Promise<ProjectionRows> {
  const { projections, ...rest } = await consoleRows(deps);
  return { ...rest, projections: projections.map(({ activates: _, ...row }) => row) };
}

/** With what the console's buttons depend on. */
export async function consoleRows(deps: Deps): Promise<ProjectionRows<ConsoleRow>> {
  const readStore = deps.foldStore;
  const [builds, checkpoints] = await Promise.all([readBuilds(readStore), readStore.checkpoints()]);
  const statuses = await Promise.all(
    projectionGroups.map(({ projections }) => projectionStatus({ ...deps, readStore, projections })()),
  );
  const projections = statuses.flat().map((status): ConsoleRow => {
    const { active, previous, building } = builds.projections[status.name] ?? {};
    const isBuilding = building?.version === status.version && building.build === status.build;
    const ofBuilding = building && checkpoints[checkpointName({ name: status.name, ...building })];
    const waitsFor = status.waitsFor ?? ofBuilding?.waitsFor ?? null;
    return {
      ...{ name: status.name, version: status.version, build: status.build },
      ...{ active: labelOf(active), previous: labelOf(previous) },
      building: building
        ? {
            ...(labelOf(building) as BuildLabel),
            ...progressOf(building.progress),
            set_aside: ofBuilding?.setAside ?? 0,
          }
        : null,
      state: waitsFor ? "waiting" : isBuilding ? "building" : status.behind ? "behind" : "current",
      position: status.position,
      lag_ms: status.lagMs,
      waits_for: waitsFor,
      set_aside: status.setAside,
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

function labelOf(build: Build | undefined): BuildLabel | null {
  if (!build) return null;
  const { version, build: number, rules } = build;
  return { version, build: number, rules: rules ?? null, outdated: isUnderOtherRules(build) };
}

function progressOf({ events, eventsPerSecond, done, secondsLeft }: Progress) {
  return { events, events_per_second: eventsPerSecond, done, seconds_left: secondsLeft ?? null };
}
